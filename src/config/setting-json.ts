const STRING = /("(?:[^"\\]|\\.)*")(\s*:)?/g

/**
 * The value of JSON that people write by hand. Of two members with one name, JSON.parse would drop the first without a
 * word.
 */
export function settingJson(text: string): unknown {
  const kept: string[] = []
  const value: unknown = JSON.parse(text, function (this: unknown, name, member) {
    if (!Array.isArray(this)) kept.push(name)
    return member
  })
  const written = [...text.matchAll(STRING)].flatMap(([, name = '', isName]) =>
    isName === undefined ? [] : [JSON.parse(name) as string],
  )
  // The whole value is kept under the name "".
  if (written.length < kept.length) return value
  const twice = written.find(name => timesIn(written, name) > timesIn(kept, name))
  throw new Error(`${twice} appears twice, and only the last one would count`)
}

const timesIn = (names: string[], wanted: string) => names.filter(name => name === wanted).length
