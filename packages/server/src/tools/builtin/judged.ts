import type { CallResult } from "@harness/protocol"
import { Option } from "effect"
import type { PathError, ToolPath } from "../../workspace/paths.ts"
import { errorResult } from "../results.ts"
import type { ToolContext } from "../Tool.ts"

/** A path that leads nowhere, told to the model. */
export const pathResult = (error: PathError): CallResult => errorResult(error.code, error.message)

/** None: the path is still what was allowed. Some: it is not, and nothing was touched. */
export const notJudged = (context: ToolContext, path: ToolPath): Option.Option<CallResult> => {
  const allowed =
    context.judged === undefined
      ? !path.outside
      : context.judged.patterns.includes(path.pattern) && (context.judged.outside || !path.outside)
  return allowed
    ? Option.none()
    : Option.some(
        errorResult("path.changed", "The path no longer leads where it led when it was allowed. Nothing was touched.")
      )
}
