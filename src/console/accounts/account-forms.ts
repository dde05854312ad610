import { html } from 'hono/html'
import { PASSWORD_CHARACTERS } from '../../config/settings/settings.ts'
import { count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'

export const ACCOUNTS_PATH = '/console/accounts'

export const disablePath = (username: string) =>
  `${ACCOUNTS_PATH}/${encodeURIComponent(username)}/disable`

export function unlockForm(username: string, failures: number): Html {
  const path = `${ACCOUNTS_PATH}/${encodeURIComponent(username)}/unlock`
  return html`<form class="inline" method="post" action="${path}">${count(failures)}
<button type="submit" class="secondary outline" aria-label="Unlock ${username}">Unlock</button></form>`
}

export const resetPath = (username: string) =>
  `${ACCOUNTS_PATH}/${encodeURIComponent(username)}/reset`

/** A reset is confirmed first, because it ends the account's sessions. */
export function resetConfirmation(username: string): Html {
  return html`<h1>Reset the password of ${username}</h1>
<p>The account gets a new password, which is shown once, on the next page, and must be changed at the next login. All its
sessions, here and at the API, end at once.</p>
<form class="box" method="post" action="${resetPath(username)}">
<button type="submit">Reset password</button> <a href="${ACCOUNTS_PATH}">Go back</a></form>`
}

export function resetDone(username: string, password: string): Html {
  return html`<h1>The password of ${username} is reset</h1>
<p class="notice" role="status">Its password is now <code>${password}</code></p>
<p>It is not shown again. Give it to nobody but ${username}, who must change it at the next login.</p>
<p><a href="${ACCOUNTS_PATH}">Accounts</a></p>`
}

/** Disabling is confirmed first, because it cannot be undone. */
export function disableConfirmation(username: string, asker: string): Html {
  return html`<h1>Disable ${username}</h1>
<p>This is permanent: a disabled account cannot be enabled again, and its name cannot be reused. All its sessions, here and
at the API, end at once. Its actions stay in the audit.</p>
${username === asker ? html`<p class="alert" role="alert">This is your own account: you will be logged out and cannot log in with it again.</p>` : nothing}
<form class="box" method="post" action="${disablePath(username)}">
<button type="submit">Disable</button> <a href="${ACCOUNTS_PATH}">Go back</a></form>`
}

export function registerForm(): Html {
  const { min, max } = PASSWORD_CHARACTERS
  return html`<h2>New account</h2>
<form class="box" method="post" action="${ACCOUNTS_PATH}">
<label>Username <input name="username" required pattern="[A-Za-z0-9][A-Za-z0-9._@\\-]*" title="Letters from A to Z, digits and . _ @ -, beginning with a letter or digit" maxlength="100" autocomplete="off" autocapitalize="none"></label>
<label>Password <input name="password" type="password" required minlength="${min}" maxlength="${max}" autocomplete="new-password" aria-describedby="password-rule"></label>
<small id="password-rule">${min} to ${max} characters; not the username, and no common password</small>
<label>Role <select name="role">
<option value="viewer">viewer: only looks</option>
<option value="operator">operator: also decides and acts</option>
<option value="admin">admin: also manages accounts</option>
</select></label>
<button type="submit">Register</button>
</form>`
}
