type Present<T> = { -readonly [K in keyof T]?: Exclude<T[K], undefined> }

const isPresent = <A>(value: A): value is Exclude<A, undefined> => value !== undefined

/** The fields that have a value: what was left out on a command line is left out of the request. */
export const withoutUndefined = <T extends object>(fields: T): Present<T> => {
  const kept: Present<T> = {}
  for (const key in fields) {
    const value = fields[key]
    if (isPresent(value)) kept[key] = value
  }
  return kept
}
