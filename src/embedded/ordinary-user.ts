import { hash } from 'node:crypto'
import { readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { copyPrograms } from './copy-programs.ts'
import { ownFolder } from './own-folder.ts'

export type OrdinaryUser = { uid: number; gid: number }

const ROOT = 0
const GROUP_MAY_TRAVERSE = 0o010
const OTHERS_MAY_TRAVERSE = 0o001
/** The users whose rights PostgreSQL gets if we are root, as which it refuses to run. */
const NAMES = ['postgres', 'nobody']
/** This folder survives a reboot, and every user may traverse it. */
const SHELTER = '/var/tmp'

export function ordinaryUser(): OrdinaryUser | undefined {
  if (process.getuid?.() !== ROOT) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'))
  const user = NAMES.map(name => users.find(([found]) => found === name)).find(Boolean)
  if (!user)
    throw new Error(
      `Running as root: PostgreSQL needs an unprivileged user (${NAMES.join(' or ')})`,
    )
  return { uid: Number(user[2]), gid: Number(user[3]) }
}

/** If PostgreSQL's user cannot reach the folders, as under /root, programs and data go to a shelter. */
export function sheltered(native: string, data: string): { native: string; data: string } {
  const user = ordinaryUser()
  if (!user || (isReachable(native, user) && isReachable(data, user))) return { native, data }
  const shelter = join(SHELTER, `loanops-${hash('sha256', data).slice(0, 16)}`)
  const moved = join(shelter, 'data')
  ownFolder(shelter, ROOT)
  const programs = copyPrograms(native, shelter)
  rmSync(data, { force: true })
  symlinkSync(moved, data)
  return { native: programs, data: moved }
}

function isReachable(path: string, user: OrdinaryUser): boolean {
  const parent = dirname(resolve(path))
  if (parent === path) return true
  const found = statSync(parent, { throwIfNoEntry: false })
  // A missing folder will be created so that every user may traverse it.
  const mayTraverse =
    !found ||
    (found.mode & (found.gid === user.gid ? GROUP_MAY_TRAVERSE : OTHERS_MAY_TRAVERSE)) !== 0
  return mayTraverse && isReachable(parent, user)
}
