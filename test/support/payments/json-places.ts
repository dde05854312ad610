/** Ways to put another JSON text in the place of each member of an event. */
export function placesIn(event: object): ((text: string) => string)[] {
  const mark = '"@@"'
  const places: ((text: string) => string)[] = []
  const walk = (node: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(node)) {
      node[name] = '@@'
      const whole = JSON.stringify(event)
      node[name] = value
      places.push(text => whole.replace(mark, () => text))
      if (typeof value === 'object' && value !== null) walk(value as Record<string, unknown>)
    }
  }
  walk(event as Record<string, unknown>)
  return places
}
