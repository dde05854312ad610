import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Everything of this name in the shelter is a copy of the programs, of whatever version. */
const NAME = 'native'

/**
 * Copies PostgreSQL's programs into the shelter, unless it already has this version, and removes other versions.
 * @param native the folder with the programs, in the package whose version they have
 * @returns the folder of the copy
 */
export function copyPrograms(native: string, shelter: string): string {
  const { version } = JSON.parse(readFileSync(join(native, '../package.json'), 'utf8'))
  const name = `${NAME}-${version}`
  const copy = join(shelter, name)
  // Renamed when complete, and others removed each time, so that a start that dies here is made good by the next one.
  if (!existsSync(copy)) {
    rmSync(`${copy}.new`, { recursive: true, force: true })
    cpSync(native, `${copy}.new`, { recursive: true, verbatimSymlinks: true })
    renameSync(`${copy}.new`, copy)
  }
  for (const other of readdirSync(shelter))
    if (other.startsWith(NAME) && other !== name) rmSync(join(shelter, other), { recursive: true })
  return copy
}
