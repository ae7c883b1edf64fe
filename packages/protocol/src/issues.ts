import { SchemaAST as AST, type ParseResult } from "effect"

/** Where a value does not fit (`a.0.b`, empty for the whole), and why. */
export interface SchemaIssue {
  readonly path: string
  readonly reason: string
}

/** The reason given for a field nobody asked for. */
export const unknownField = "is not known here"

interface Found {
  readonly path: ReadonlyArray<PropertyKey>
  readonly reason: string
  /** One fixed value was asked for: what tells a union's members apart. */
  readonly literal: boolean
}

/** What a schema asks for, in words taken from the schema alone. */
const expected = (ast: AST.AST): string => {
  const described = AST.getDescriptionAnnotation(ast)
  switch (ast._tag) {
    case "Refinement":
      return described._tag === "Some" ? described.value : expected(ast.from)
    case "Transformation":
      return described._tag === "Some" ? described.value : expected(ast.from)
    case "Declaration":
      return described._tag === "Some" ? described.value : "valid"
    case "StringKeyword":
    case "TemplateLiteral":
      return "a string"
    case "NumberKeyword":
      return "a number"
    case "BooleanKeyword":
      return "true or false"
    case "Literal":
      return JSON.stringify(typeof ast.literal === "bigint" ? String(ast.literal) : ast.literal)
    case "TupleType":
      return "a list"
    case "TypeLiteral":
    case "ObjectKeyword":
      return "an object"
    case "UndefinedKeyword":
    case "NeverKeyword":
      return "left out"
    case "Suspend":
      return expected(ast.f())
    case "Union": {
      const words = [...new Set(ast.types.filter((type) => !AST.isUndefinedKeyword(type)).map(expected))]
      return ast.types.every(AST.isLiteral) ? `one of ${words.join(", ")}` : words.join(" or ")
    }
    default:
      return "valid"
  }
}

const must = (ast: AST.AST, path: ReadonlyArray<PropertyKey>): Found => ({
  path,
  reason: `must be ${expected(ast)}`,
  literal: AST.isLiteral(ast) || (AST.isUnion(ast) && ast.types.every(AST.isLiteral))
})

const toPath = (path: ParseResult.Path): ReadonlyArray<PropertyKey> => (typeof path === "object" ? [...path] : [path])

const toIssues = (
  issues: ParseResult.SingleOrNonEmpty<ParseResult.ParseIssue>
): ReadonlyArray<ParseResult.ParseIssue> => ("_tag" in issues ? [issues] : issues)

const depth = (found: ReadonlyArray<Found>) => Math.min(...found.map((issue) => issue.path.length))

// A member that stands for "nothing there" was not what a value that is there meant.
const absent = new Set(["must be null", "must be left out"])

/** Of a union's members the one the value came nearest to: of the right kind, failed deepest, in the fewest places. */
const nearest = (
  ast: AST.Union,
  members: ReadonlyArray<ReadonlyArray<Found>>,
  at: ReadonlyArray<PropertyKey>
): ReadonlyArray<Found> => {
  const misnamed = (found: ReadonlyArray<Found>) =>
    found.some((issue) => issue.literal && issue.path.length === at.length + 1) ? 1 : 0
  const wanted = members.filter((found) => found.length > 0 && found.every((issue) => !absent.has(issue.reason)))
  const [best] = wanted.toSorted((a, b) => misnamed(a) - misnamed(b) || depth(b) - depth(a) || a.length - b.length)
  if (best !== undefined && (wanted.length === 1 || depth(best) > at.length)) return best
  return [must(ast, at)]
}

const collect = (issue: ParseResult.ParseIssue, at: ReadonlyArray<PropertyKey>): ReadonlyArray<Found> => {
  switch (issue._tag) {
    case "Missing":
      return [{ path: at, reason: "is missing", literal: AST.isLiteral(issue.ast.type) }]
    case "Unexpected":
      return [{ path: at, reason: unknownField, literal: false }]
    case "Forbidden":
      return [{ path: at, reason: "is not allowed here", literal: false }]
    case "Type":
      return [must(issue.ast, at)]
    case "Pointer":
      return collect(issue.issue, [...at, ...toPath(issue.path)])
    case "Refinement":
      return issue.kind === "From" ? collect(issue.issue, at) : [must(issue.ast, at)]
    case "Transformation":
      return issue.kind === "Transformation" ? [must(issue.ast, at)] : collect(issue.issue, at)
    case "Composite": {
      const members = toIssues(issue.issues).map((member) => collect(member, at))
      return AST.isUnion(issue.ast) ? nearest(issue.ast, members, at) : members.flat()
    }
  }
}

// A key is the sender's own text: enough of it to be found again, and no more.
const segment = (key: PropertyKey) => String(key).slice(0, 64)

/** Everything wrong with a value, each with its place. The words come from the schema: the value is never in them. */
export const schemaIssues = (error: ParseResult.ParseError | ParseResult.ParseIssue): ReadonlyArray<SchemaIssue> =>
  collect(error._tag === "ParseError" ? error.issue : error, []).map(({ path, reason }) => ({
    path: path.map(segment).join("."),
    reason
  }))
