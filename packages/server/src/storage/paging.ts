/** A page cut from one row more than it holds: that row tells whether another page follows, in the direction read. */
export const cutPage = <A>(
  rows: ReadonlyArray<A>,
  limit: number,
  idOf: (row: A) => string,
  direction: "after" | "before" = "after"
): { readonly page: ReadonlyArray<A>; readonly next: string | null } => {
  const more = rows.length > limit
  const page = !more ? rows : direction === "after" ? rows.slice(0, limit) : rows.slice(-limit)
  const edge = direction === "after" ? page.at(-1) : page.at(0)
  return { page, next: more && edge !== undefined ? idOf(edge) : null }
}
