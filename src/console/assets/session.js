// Keeps a page that refreshes itself, with what was typed into it, when its session ends.
const KEPT = 'loanops-kept'
// A refused form's page is shown at another URL, which cannot be opened.
const opened = location.pathname + location.search
const { account, page: shown = opened } = document.body.dataset
const page = withoutNotice(shown)
if (page !== opened) history.replaceState(null, '', page)
let isEnded = false
// A refresh leaves open or closed what somebody opened or closed.
window.htmx?.config.morphIgnore.push('open')

document.addEventListener('htmx:before:response', event => {
  isEnded = event.detail.ctx.response.status === 401
  document.getElementById('ended')?.remove()
  if (!isEnded) return
  // htmx would leave for the login.
  event.preventDefault()
  document.querySelector('main').prepend(ended())
})

addEventListener('pagehide', () => {
  if (isEnded) sessionStorage.setItem(KEPT, JSON.stringify({ account, page, typed: typed() }))
})

addEventListener('pageshow', ({ persisted }) => {
  // A page that the browser kept would send its forms a second time.
  if (persisted) for (const form of forms()) renew(form)
})

addEventListener('change', ({ target }) => {
  // Another file is another form, also where the first one arrived and only its answer was lost.
  if (target.type === 'file') renew(target.form)
})

restore()

/** A notice says what was just done, which is no longer true of a page that is opened again. */
function withoutNotice(path) {
  const url = new URL(path, location)
  if (url.searchParams.has('done')) url.searchParams.delete('done')
  return url.pathname + url.search
}

function ended() {
  const notice = document.createElement('div')
  notice.id = 'ended'
  notice.className = 'alert'
  notice.setAttribute('role', 'alert')
  const login = document.createElement('a')
  // The login refuses a longer one.
  login.href = `/console/login${page.length > 2_000 ? '' : `?next=${encodeURIComponent(page)}`}`
  login.textContent = 'Log in'
  notice.append(
    'Your session has ended. ',
    login,
    ' to go on; what you typed on this page is kept.',
  )
  return notice
}

function forms() {
  return [...document.querySelectorAll('main form[method=post]')]
}

/** A form with a file has its token in its action. */
function renew(form) {
  const token = `${uuid()}/${account}`
  const { form_token: field } = form.elements
  if (field !== undefined) field.value = token
  else {
    const url = new URL(form.action)
    url.searchParams.set('form_token', token)
    form.action = url
  }
}

/** Makes what crypto.randomUUID makes, which only exists over HTTPS. */
function uuid() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))]
  const digits = bytes.map(byte => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The fields that a person fills in, and that may be kept. */
function controls() {
  return forms().flatMap(form =>
    [...form.elements]
      .filter(({ name, type }) => name !== '' && !['hidden', 'password', 'file'].includes(type))
      .map(field => ({ field, key: `${placeOf(form)} ${field.name}` })),
  )
}

/** The form's path, without what each copy of the page has of its own, such as the token. */
function placeOf(form) {
  return new URL(form.action).pathname
}

function typed() {
  return controls()
    .filter(({ field }) => isTyped(field))
    .map(({ field, key }) => [key, field.type === 'checkbox' ? field.checked : field.value])
}

/** What the page filled in may be another value by then. A refused form comes back with what was typed into it. */
function isTyped(field) {
  if (field.form.querySelector('#refused') !== null) return true
  if (field.type === 'checkbox') return field.checked !== field.defaultChecked
  if (field.tagName !== 'SELECT') return field.value !== field.defaultValue
  const options = [...field.options]
  return field.selectedOptions[0] !== (options.find(one => one.defaultSelected) ?? options[0])
}

/** Another account leaves it for its own. */
function restore() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT))
  if (kept === null || kept.account !== account || kept.page !== page) return
  sessionStorage.removeItem(KEPT)
  const values = new Map(kept.typed)
  for (const { field, key } of controls()) {
    if (!values.has(key)) continue
    if (field.type === 'checkbox') field.checked = values.get(key)
    else field.value = values.get(key)
  }
}
