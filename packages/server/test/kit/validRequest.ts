type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const nameOf = (call: Json): unknown => (isRecord(call["function"]) ? call["function"]["name"] : undefined)

const isName = (name: unknown): boolean => typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name)

const illFormed = (value: unknown, path: string): ReadonlyArray<string> => {
  if (typeof value === "string") return /\p{Surrogate}/u.test(value) ? [`${path}: a lone surrogate`] : []
  if (Array.isArray(value)) return value.flatMap((item, index) => illFormed(item, `${path}[${index}]`))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, item]) => [
    ...illFormed(key, `${path} (a key)`),
    ...illFormed(item, `${path}.${key}`)
  ])
}

const isBlankText = (content: unknown): boolean => {
  if (typeof content === "string") return content === ""
  return list(content).some((part) => isRecord(part) && part["type"] === "text" && part["text"] === "")
}

const parsesToObject = (text: unknown): boolean => {
  try {
    return typeof text === "string" && isRecord(JSON.parse(text))
  } catch {
    return false
  }
}

const contentProblems = (message: Json, at: string): ReadonlyArray<string> => {
  const { content, role } = message
  const calls = list(message["tool_calls"])
  if (isBlankText(content)) return [`${at}: an empty text block`]
  const isEmpty = content === undefined || content === null || (Array.isArray(content) && content.length === 0)
  return isEmpty && !(role === "assistant" && calls.length > 0) ? [`${at}: no content`] : []
}

const callProblems = (calls: ReadonlyArray<unknown>, at: string, used: Set<string>): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    if (!isRecord(call)) return [`${at}: a call that is no object`]
    const id = call["id"]
    const problems: Array<string> = []
    if (typeof id !== "string" || id === "") problems.push(`${at}: a call without an id`)
    else if (used.has(id)) problems.push(`${at}: call id ${id} used twice`)
    else used.add(id)
    if (!isName(nameOf(call))) problems.push(`${at}: call name ${String(nameOf(call))}`)
    const args = isRecord(call["function"]) ? call["function"]["arguments"] : undefined
    if (!parsesToObject(args)) problems.push(`${at}: arguments that are no JSON object`)
    return problems
  })

/** What is wrong with a Chat Completions request; empty for a valid one. */
export const requestProblems = (body: unknown): ReadonlyArray<string> => {
  if (!isRecord(body)) return ["the body is no JSON object"]
  const problems: Array<string> = [...illFormed(body, "body")]
  const tools = list(body["tools"]).map((tool) => (isRecord(tool) ? nameOf(tool) : undefined))
  for (const name of tools) if (!isName(name)) problems.push(`tool name ${String(name)}`)
  if (new Set(tools).size !== tools.length) problems.push("two tools of one name")
  const messages = list(body["messages"])
  if (messages.length === 0) problems.push("no messages")
  const used = new Set<string>()
  let open: Array<unknown> = []
  messages.forEach((message, index) => {
    const at = `messages[${index}]`
    if (!isRecord(message)) {
      problems.push(`${at}: no object`)
      return
    }
    problems.push(...contentProblems(message, at))
    if (message["role"] === "tool") {
      const id = message["tool_call_id"]
      if (!open.includes(id)) problems.push(`${at}: a result for ${String(id)}, which no call just before asked for`)
      open = open.filter((call) => call !== id)
      return
    }
    if (open.length > 0) problems.push(`${at}: comes before the result of ${open.join(", ")}`)
    const calls = list(message["tool_calls"])
    problems.push(...callProblems(calls, at, used))
    open = calls.map((call) => (isRecord(call) ? call["id"] : undefined))
  })
  if (open.length > 0) problems.push(`no result for ${open.join(", ")}`)
  return problems
}

/** Throws, naming every problem, unless a provider would take this Chat Completions request. */
export const assertValidRequest = (body: unknown): void => {
  const problems = requestProblems(body)
  if (problems.length > 0)
    throw new Error(`not a valid request:\n${problems.join("\n")}\n${JSON.stringify(body, null, 1)}`)
}
