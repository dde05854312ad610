/** In a word with at least this many letters, two typing errors are more likely than another word. */
const LONG_NAME = 8

/** Whether the name may be a misspelling of the other one, or the same words joined in another way, as in snake case. */
export function isAlmost(name: string, meant: string): boolean {
  if (joined(name) === joined(meant)) return true
  const errors = meant.length < LONG_NAME ? 1 : 2
  if (Math.abs(name.length - meant.length) > errors) return false
  return distance(name.toLowerCase(), meant.toLowerCase()) <= errors
}

const joined = (name: string) => name.replace(/[ _-]/g, '').toLowerCase()

/** Levenshtein's distance: how many letters must be inserted, removed or replaced. */
function distance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...from].entries()) {
    const here = [row + 1]
    for (let column = 0; column < to.length; column++) {
      const replaced = (above[column] as number) + (letter === to[column] ? 0 : 1)
      const moved = 1 + Math.min(above[column + 1] as number, here[column] as number)
      here.push(Math.min(replaced, moved))
    }
    above = here
  }
  return above.at(-1) as number
}
