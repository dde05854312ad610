/** A row as JSON has it: dates become ISO 8601 strings in UTC. */
export function asJson<T>(row: object): T {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : value,
    ]),
  ) as T
}
