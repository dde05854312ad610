import { html } from 'hono/html'
import { askerOf } from '../../accounts/access/actor.ts'
import { readAccount } from '../../accounts/account.ts'
import { endOtherTokens } from '../../accounts/change-account.ts'
import { AttemptedPassword, NewPassword } from '../../accounts/credentials.ts'
import { InvalidCredentials } from '../../accounts/sign-on/login.ts'
import { PASSWORD_CHARACTERS } from '../../config/settings/settings.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { invalidField } from '../../http/problem.ts'
import { answerPage } from '../frame/answer.ts'
import { type Html, nothing } from '../frame/html.ts'
import { PASSWORD_PATH as PATH } from '../frame/layout.ts'
import { DoneQuery, doneNotice, donePath } from '../frame/notice.ts'
import type { PageContext } from '../page-context.ts'

const pageSchema = { querystring: DoneQuery }
const changeSchema = {
  body: only({
    current_password: AttemptedPassword,
    new_password: NewPassword,
    repeated_password: AttemptedPassword,
  }),
}
const config = { needs: 'own', isForOneTimePassword: true } as const

export function passwordPage(app: App, { accounts, db }: PageContext): void {
  app.get('/password', { schema: pageSchema, config }, async (request, reply) => {
    const { passwordHash } = await readAccount(db, request.user.name)
    const body = page(request.query.done, request.mustChangePassword, passwordHash !== null)
    return answerPage(request, reply, { title: 'Password', body })
  })

  app.post('/password', { schema: changeSchema, config }, async (request, reply) => {
    const { current_password: old, new_password: password, repeated_password } = request.body
    if (repeated_password !== password)
      throw invalidField('/repeated_password', 'must be the same as the new password')
    const { name: username, jti: keptToken } = request.user
    const change = { username, old, password, keptToken }
    await accounts.changePassword(askerOf(request), change).catch(error => {
      // The form asks for no username.
      throw error instanceof InvalidCredentials
        ? invalidField('/current_password', 'is wrong')
        : error
    })
    return reply.redirect(donePath(PATH, 'password'), 303)
  })

  app.post('/password/end-others', { config: { needs: 'own' } }, async (request, reply) => {
    await endOtherTokens(db, askerOf(request), request.user)
    return reply.redirect(donePath(PATH, 'ended'), 303)
  })
}

function page(done: string | undefined, mustChange: boolean, hasPassword: boolean): Html {
  return html`<h1>Password</h1>
${doneNotice(done)}
${hasPassword ? changeForm(mustChange) : noPassword}
${mustChange ? nothing : endOthersForm()}`
}

const noPassword = html`<p>You log in by single sign-on: your account has no password here.</p>`

function changeForm(mustChange: boolean): Html {
  const { min, max } = PASSWORD_CHARACTERS
  return html`${mustChange ? html`<p class="alert" role="alert">An administrator has reset your password. Choose one of your own before you go on.</p>` : nothing}
<form class="box" method="post" action="${PATH}">
<label>Current password <input name="current_password" type="password" required maxlength="${max}" autocomplete="current-password"></label>
<label>New password <input name="new_password" type="password" required minlength="${min}" maxlength="${max}" autocomplete="new-password" aria-describedby="password-rule"></label>
<small id="password-rule">${min} to ${max} characters; not your username, and no common password</small>
<label>New password again <input name="repeated_password" type="password" required maxlength="${max}" autocomplete="new-password"></label>
<button type="submit">Change password</button>
</form>`
}

function endOthersForm(): Html {
  return html`<h2>Sessions</h2>
<form class="box" method="post" action="${PATH}/end-others">
<p>Ends every other session of your account, in other browsers, and its access tokens for the API. This one goes on.</p>
<button type="submit" class="secondary">End all others</button></form>`
}
