import type { NewToken, TokenInfo } from "@harness/server/auth/Tokens"
import type { Style } from "./style.ts"
import { columns, oneLine } from "./text.ts"

const reach = (servers: ReadonlyArray<string> | undefined) =>
  servers === undefined ? "all servers" : servers.join(",")

/** Under a new token: what it is, and that it is not shown again. */
export const newTokenLines = (token: NewToken, tokenId: string, style: Style): string => {
  const may = `${token.scopes.join(", ")} on ${reach(token.servers)}`
  return `${style.dim(`${tokenId} for ${oneLine(token.actor)} may ${may}; it is not shown again`)}\n`
}

/** Tokens, one to a line. */
export const tokenTable = (tokens: ReadonlyArray<TokenInfo>, style: Style): string =>
  columns(
    tokens.map((token) => [
      token.tokenId,
      oneLine(token.actor, 40),
      token.scopes.join(","),
      reach(token.servers),
      token.createdAt
    ])
  )
    .map(([id = "", actor = "", scopes = "", servers = "", at = ""]) =>
      [style.bold(id), actor, scopes, servers, style.dim(at)].join("  ")
    )
    .map((line) => `${line}\n`)
    .join("")
