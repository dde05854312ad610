import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { forAdmins, toDo } from '../../accounts/access/needs.ts'
import { ROLES, readAccount } from '../../accounts/account.ts'
import { NewPassword, Username } from '../../accounts/credentials.ts'
import type { Row } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { pageOfView } from '../../http/lists/page-of-view.ts'
import { answerPage } from '../frame/answer.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import { performForm } from '../frame/forms/perform-form.ts'
import { type Html, link, nothing } from '../frame/html.ts'
import { donePath } from '../frame/notice.ts'
import { column, type List, timeColumn } from '../lists/list.ts'
import { listRoutes } from '../lists/list-routes.ts'
import type { PageContext } from '../page-context.ts'
import {
  disableConfirmation,
  disablePath,
  ACCOUNTS_PATH as PATH,
  registerForm,
  resetConfirmation,
  resetDone,
  resetPath,
  unlockForm,
} from './account-forms.ts'

const registerSchema = {
  body: only({ username: Username, password: NewPassword, role: oneOf(ROLES) }),
}
const accountSchema = { params: Type.Object({ username: Type.String() }) }

type AccountRow = Row<
  'loanops.account',
  'id' | 'username' | 'role' | 'created_at' | 'disabled_at'
> & { has_password: boolean; last_login_at: Date | null; failed_logins: number }

const ofOne = { schema: accountSchema, config: forAdmins }

export async function accountsPage(app: App, context: PageContext): Promise<void> {
  const { accounts, db } = context
  const { calls } = accounts
  listRoutes(app, context.db, accountList(context))

  const form = formRoutes(app, context)
  form('/accounts', registerSchema, calls.registerCall, {
    asked: ({ body }) => accounts.registrationOf(body),
    done: donePath(PATH, 'registered'),
  })

  app.get('/accounts/:username/disable', ofOne, async (request, reply) => {
    const { username } = request.params
    const account = await readAccount(db, username)
    const body = disableConfirmation(account.username, request.user.name)
    return answerPage(request, reply, { title: 'Disable an account', body })
  })

  app.get('/accounts/:username/reset', ofOne, async (request, reply) => {
    const account = await readAccount(db, request.params.username)
    const body = resetConfirmation(account.username)
    return answerPage(request, reply, { title: 'Reset a password', body })
  })

  const reset = toDo(calls.resetCall, accountSchema)
  app.post('/accounts/:username/reset', reset, async (request, reply) => {
    const done = (password: string) => {
      const body = resetDone(request.params.username, password)
      return answerPage(request, reply, { title: 'Password reset', body })
    }
    return performForm(context, calls.resetCall, { asked: request.params, reply, done })
  })

  form('/accounts/:username/disable', accountSchema, calls.disableCall, {
    done: donePath(PATH, 'disabled'),
  })
  form('/accounts/:username/unlock', accountSchema, calls.unlockCall, {
    done: donePath(PATH, 'unlocked'),
  })
}

function accountList({ db, formats }: PageContext): List<Record<string, never>, AccountRow> {
  return {
    path: '/accounts',
    needs: 'accounts',
    title: 'Accounts',
    filters: {},
    cursor: ['uuid'],
    empty: 'Accounts appear here.',
    columns: [
      column('username', 'Username', ({ username }) =>
        link(`/console/audit?actor=${encodeURIComponent(username)}`, username),
      ),
      column('role', 'Role'),
      timeColumn(formats, 'created_at', 'Created'),
      timeColumn(formats, 'last_login_at', 'Last login'),
      column('failed_logins', 'Failed logins', row =>
        row.failed_logins === 0 ? null : unlockForm(row.username, row.failed_logins),
      ),
      {
        ...timeColumn(formats, 'disabled_at', 'Disabled'),
        cell: row => (row.disabled_at === null ? changesOf(row) : formats.time(row.disabled_at)),
      },
    ],
    load: range => pageOfView(db, range, { key: 'id', select: accountRows }),
    below: registerForm,
  }
}

function changesOf({ username, has_password }: AccountRow): Html {
  const reset = html`<a href="${resetPath(username)}">Reset password…</a>`
  return html`<span>${has_password ? reset : nothing} <a href="${disablePath(username)}">Disable…</a></span>`
}

const accountRows = sql<AccountRow>`
  select a.id, a.username, a.role, a.created_at, a.disabled_at, a.password_hash is not null as has_password,
         (select max(at) from loanops.audit where actor = a.username and action = 'account.login') as last_login_at,
         coalesce(failed.logins, 0)::integer as failed_logins
    from loanops.account a
    left join (
      select split_part(substr(key, length('pair:') + 1), '.', 1) as name, sum(points) as logins
        from loanops.login_attempt
       where starts_with(key, 'pair:') and expire > extract(epoch from now()) * 1000
       group by 1) failed on failed.name = encode(sha256(convert_to(lower(a.username), 'UTF8')), 'hex')`
