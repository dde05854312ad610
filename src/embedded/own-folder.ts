import { chmodSync, lstatSync, mkdirSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'

const ROOT = 0
/** Only the owner may change the folder's content; everyone may traverse it. */
const MODE = 0o711
const OTHERS_MAY_WRITE = 0o022
/** Only an entry's owner may rename or remove it, as in /tmp. */
const STICKY = 0o1000

/** Someone else may have created the folder first, with their own programs. */
export function ownFolder(path: string, owner: number): void {
  for (let parent = realpathSync(dirname(path)); ; parent = dirname(parent)) {
    const found = lstatSync(parent)
    if (found.uid !== owner && found.uid !== ROOT) refuse(parent, `belongs to user ${found.uid}`)
    if (mayOthersWrite(found) && !(found.mode & STICKY)) refuse(parent, 'can be written by others')
    if (parent === dirname(parent)) break
  }
  if (wasCreated(path)) return
  const found = lstatSync(path)
  if (!found.isDirectory()) refuse(path, 'is not a folder')
  if (found.uid !== owner) refuse(path, `belongs to user ${found.uid}`)
  if (mayOthersWrite(found)) refuse(path, 'can be written by others')
}

function wasCreated(path: string): boolean {
  try {
    mkdirSync(path, { mode: MODE })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  // The umask may have removed the permission to traverse the folder.
  chmodSync(path, MODE)
  return true
}

const mayOthersWrite = ({ mode }: Stats) => (mode & OTHERS_MAY_WRITE) !== 0

function refuse(path: string, reason: string): never {
  throw new Error(
    `${path} ${reason}, and may contain another user's programs: check who created it, then remove it`,
  )
}
