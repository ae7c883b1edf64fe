/** What every id looks like that a caller may choose or name in a path. */
export const idForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
