import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Everything of this name in the shelter is a copy of the programs, of whatever version. */
const NAME = 'native'

/** @param native in the package whose version the programs have */
export function copyPrograms(native: string, shelter: string): string {
  const { version } = JSON.parse(readFileSync(join(native, '../package.json'), 'utf8'))
  const name = `${NAME}-${version}`
  const copy = join(shelter, name)
  // The copy is renamed when complete, and others are removed each time, so that the next start makes up for one that
  // dies here.
  if (!existsSync(copy)) {
    rmSync(`${copy}.new`, { recursive: true, force: true })
    cpSync(native, `${copy}.new`, { recursive: true, verbatimSymlinks: true })
    renameSync(`${copy}.new`, copy)
  }
  for (const other of readdirSync(shelter))
    if (other.startsWith(NAME) && other !== name) rmSync(join(shelter, other), { recursive: true })
  return copy
}
