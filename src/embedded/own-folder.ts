import { chmodSync, lstatSync, mkdirSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'

const ROOT = 0
/** Its owner decides what is in it; everybody may pass. */
const MODE = 0o711
const OTHERS_MAY_WRITE = 0o022
/** Here an entry is renamed and removed by its owner alone, as in /tmp. */
const STICKY = 0o1000

/**
 * Makes a folder at a place that everybody knows, or takes the one that is there.
 * @throws unless `owner` alone decides what is in it: somebody else may have made it first, with programs of his own
 */
export function ownFolder(path: string, owner: number): void {
  for (let parent = realpathSync(dirname(path)); ; parent = dirname(parent)) {
    const found = lstatSync(parent)
    if (found.uid !== owner && found.uid !== ROOT) refuse(parent, `belongs to user ${found.uid}`)
    if (mayOthersWrite(found) && !(found.mode & STICKY)) refuse(parent, 'can be written by others')
    if (parent === dirname(parent)) break
  }
  if (isMade(path)) return
  const found = lstatSync(path)
  if (!found.isDirectory()) refuse(path, 'is not a folder')
  if (found.uid !== owner) refuse(path, `belongs to user ${found.uid}`)
  if (mayOthersWrite(found)) refuse(path, 'can be written by others')
}

function isMade(path: string): boolean {
  try {
    mkdirSync(path, { mode: MODE })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  // The process's umask may have taken the right to pass away.
  chmodSync(path, MODE)
  return true
}

const mayOthersWrite = ({ mode }: Stats) => (mode & OTHERS_MAY_WRITE) !== 0

function refuse(path: string, reason: string): never {
  throw new Error(
    `${path} ${reason}, so programs in it may be somebody else's: look who made it, then remove it`,
  )
}
