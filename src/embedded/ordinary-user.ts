import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ownFolder } from './own-folder.ts'

export type OrdinaryUser = { uid: number; gid: number }

const ROOT = 0
/** With these bits a folder may be passed through. */
const GROUP_MAY_PASS = 0o010
const OTHERS_MAY_PASS = 0o001
/** Whom PostgreSQL may run as, where we are root: it refuses to be root itself. */
const NAMES = ['postgres', 'nobody']
/** Survives a restart of the machine, and everybody may pass through it. */
const SHELTER = '/var/tmp'

/** @returns undefined where we are an ordinary user ourselves */
export function ordinaryUser(): OrdinaryUser | undefined {
  if (process.getuid?.() !== ROOT) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'))
  const user = NAMES.map(name => users.find(([found]) => found === name)).find(Boolean)
  if (!user) throw new Error(`As root, PostgreSQL wants one of the users ${NAMES.join(', ')}`)
  return { uid: Number(user[2]), gid: Number(user[3]) }
}

/**
 * Where PostgreSQL's programs and data are, for the user it runs as. Below a folder that is closed to that user, such
 * as /root, both move to a shelter, and a link stands in the data's place.
 * @param native the folder of the programs and their libraries
 */
export function sheltered(native: string, data: string): { native: string; data: string } {
  const user = ordinaryUser()
  if (!user || (isReachable(native, user) && isReachable(data, user))) return { native, data }
  const shelter = join(
    SHELTER,
    `loanops-${createHash('sha256').update(data).digest('hex').slice(0, 16)}`,
  )
  const moved = { native: join(shelter, 'native'), data: join(shelter, 'data') }
  ownFolder(shelter, ROOT)
  if (!existsSync(moved.native)) {
    cpSync(native, `${moved.native}.new`, { recursive: true, verbatimSymlinks: true })
    renameSync(`${moved.native}.new`, moved.native)
  }
  rmSync(data, { force: true })
  symlinkSync(moved.data, data)
  return moved
}

function isReachable(path: string, user: OrdinaryUser): boolean {
  const parent = dirname(resolve(path))
  if (parent === path) return true
  const found = statSync(parent, { throwIfNoEntry: false })
  // What is not there yet will be made, for everybody to pass.
  const mayPass =
    !found || (found.mode & (found.gid === user.gid ? GROUP_MAY_PASS : OTHERS_MAY_PASS)) !== 0
  return mayPass && isReachable(parent, user)
}
