import { sql } from 'kysely'
import type { Database } from '../database.ts'

type Migrated = {
  /** The files that changed the tables; the views are rebuilt each time. */
  applied: string[]
  warnings: string[]
  access: Access
}
type Access = { owner: string; hasRole: boolean; hasLogin: boolean }

/** Who could log in as the service. */
export async function readAccess(db: Database): Promise<Access> {
  const { rows } = await sql<Access>`
    select current_user as owner,
           to_regrole('loanops_runtime') is not null as "hasRole",
           exists (select from pg_roles login
                    where rolcanlogin and not rolsuper and rolname <> current_user
                      and pg_has_role(login.oid,
                            to_regrole('loanops_runtime')::oid, 'usage')) as "hasLogin"`.execute(db)
  return rows[0] as Access
}

/** @param isOneLogin whether the service logs in as the owner */
export function migrationReport({ applied, warnings, access }: Migrated, isOneLogin: boolean) {
  const canStart = access.hasRole || isOneLogin
  const lines = [
    ...applied.map(name => `Applied ${name}`),
    applied.length === 0
      ? 'The tables were up to date; the views are rebuilt'
      : 'Rebuilt the views',
    ...warnings.map(warning => `Warning: ${warning}`),
    ...(isOneLogin ? [] : whatToRun(access)),
  ]
  return { canStart, text: lines.map(line => `${line}\n`).join('') }
}

const LOGIN = "create role loanops_service login password '…' in role loanops_runtime;"

function whatToRun({ owner, hasRole, hasLogin }: Access): string[] {
  if (hasLogin) return []
  if (hasRole)
    return [
      'No login is a member of loanops_runtime yet. Create one for the service:',
      `  ${LOGIN}`,
    ]
  return [
    `No service can start with another login than ${owner}. Run this as a superuser, and then migrate again:`,
    '  create role loanops_runtime nologin;',
    '  create role loanops_worker nologin;',
    `  ${LOGIN}`,
    `If the service is to log in as ${owner} too, run: npm run migrate -- --one-login`,
  ]
}
