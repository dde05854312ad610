/** A row as an answer carries it: each time becomes text in ISO 8601, in UTC. */
export function asJson<T>(row: object): T {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : value,
    ]),
  ) as T
}
