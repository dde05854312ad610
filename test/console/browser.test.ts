import { join } from 'node:path'
import { sql } from 'kysely'
import type { Browser, ElementHandle, Page } from 'puppeteer-core'
import t, { type Test } from 'tap'
import { ADMIN, OPERATOR } from '../support/accounts/admin.ts'
import { openBrowser, violations } from '../support/console/browser.ts'
import { startWithConsole } from '../support/console/console.ts'
import { fillConsole } from '../support/console/console-data.ts'
import { consoleRoutes } from '../support/console/console-routes.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { runBatch } from '../support/payments/payments.ts'
import { caller } from '../support/service.ts'
import { until } from '../support/until.ts'

const FILE = `loan_external_id,transaction_date,amount,payment_reference,gateway,note\nL-1001,01 February 2026,100.00,REF-1,,`
/** Colours that fade from one scheme to the other are measured only once they have. */
const STILL = { name: 'prefers-reduced-motion', value: 'reduce' }
/** Two links that are too near to each other to be hit by a finger. */
const TARGETS = { runOnly: { type: 'rule', values: ['target-size'] } }
const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
/** Whatever in a page would be run as code, and dies unseen under the policy. */
const EVALUATED = /hx-on|hx-vals="js:|hx-confirm="js:|hx-trigger="[^"]*\[|javascript:|style="/

const { url, db, operator, admin } = await startWithConsole(t)
const call = caller(url)
await fillConsole(url)
await call(
  'POST',
  '/api/webhooks/gateway_a?lender=LENDER_02',
  capturedA({ id: 'pay_markup', notes: { order: MARKUP, external_loan_id: MARKUP } }),
)
await runBatch(call)
const browser = await openBrowser()
t.teardown(() => browser.close())
/** A test in a window of its own, whose pages must give the browser no error to log. */
const test = (name: string, cookie: string, body: (t: Test, window: Window) => Promise<void>) =>
  t.test(name, async t => {
    const window = await openWindow(browser, url, cookie)
    await body(t, window)
    t.same(window.errors, [], 'the browser logs no error')
    await window.page.close()
  })

test(
  'a failed login says so, and the next one leads to the page that was wanted',
  '',
  async (t, { page, go, errors }) => {
    await go('/console/payments?state=suspense')
    await logIn(page, { ...OPERATOR, password: 'not the right one' })
    t.match(await textOf(page, '[role=alert]'), /Wrong username or password/)
    // Chromium calls any answer of 401 an error.
    errors.length = 0
    await logIn(page, OPERATOR)
    t.equal(new URL(page.url()).search, '?state=suspense')
  },
)

test(
  'an operator brings a payment from suspense to the ledger with the keyboard alone',
  operator.cookie,
  async (t, { page, go }) => {
    await go('/console/payments/gateway_a/pay_nobody')
    await page.focus('form[action$="/assign"] [name=external_loan_id]')
    await page.keyboard.type('L-1001')
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    t.match(await textOf(page, '[role=status]'), /assigned/)
    await go('/console')
    await page.focus('form[action="/console/batch"] button')
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    await until(async () => {
      await go('/console/payments/gateway_a/pay_nobody')
      return (await textOf(page, '.facts')).includes('posted')
    })
  },
)

test(
  'a page refreshes itself unless that is switched off',
  operator.cookie,
  async (t, { page, go }) => {
    await go('/console/payments?loan=L-1001')
    t.notMatch(await textOf(page, '#live'), /pay_later/)
    const event = capturedA({ id: 'pay_later', loan: 'L-1001', amount: 1_000 })
    await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
    await runBatch(call)
    await page.waitForFunction('document.body.innerText.includes("pay_later")')
    await go('/console/payments?loan=L-1001&refresh=off')
    t.equal(await page.$('[hx-get]'), null)
  },
)

test(
  'what somebody opened or closed stays so while its page refreshes itself',
  operator.cookie,
  async (t, { page, go }) => {
    await go('/console/operations?status=failed')
    await Promise.all([page.waitForNavigation(), page.click('tbody a')])
    for (const path of [new URL(page.url()).pathname, '/console/payments/gateway_a/pay_markup']) {
      await go(path)
      const before = await page.$eval('#live details', one => one.open)
      await page.click('#live summary')
      await page.evaluate(`document.querySelector('#live dd').textContent = 'old'`)
      await page.waitForFunction(`document.querySelector('#live dd').textContent !== 'old'`)
      t.equal(await page.$eval('#live details', one => one.open), !before, path)
    }
  },
)

test(
  'an uploaded file becomes a portfolio that is run',
  operator.cookie,
  async (t, { page, go }) => {
    await go('/console/portfolio')
    await page.select('form[data-upload] [name=type]', 'repayments')
    const file = join(t.testdir({ 'repayments.csv': FILE }), 'repayments.csv')
    const input = (await page.$('input[type=file]')) as ElementHandle<never> | null
    await input?.uploadFile(file)
    await Promise.all([page.waitForNavigation(), page.click('form[data-upload] button')])
    await Promise.all([
      page.waitForNavigation(),
      page.click('form[action$="/run"] button:not([formaction])'),
    ])
    await page.waitForFunction('document.querySelector(".facts")?.innerText.includes("completed")')
    t.match(await textOf(page, '.facts'), /Done\s*1/)
  },
)

test(
  'the reason of a refused file is shown once, with a link that works, and what was chosen stays',
  operator.cookie,
  async (t, { page, go, errors }) => {
    await go('/console/portfolio')
    await page.select('form[data-upload] [name=type]', 'repayments')
    const file = join(t.testdir({ 'wrong.csv': 'loan,amount\n1,2\n' }), 'wrong.csv')
    const input = (await page.$('input[type=file]')) as ElementHandle<never> | null
    await input?.uploadFile(file)
    await page.click('form[data-upload] button')
    await page.waitForSelector('form[data-upload] .bad')
    // Chromium calls any answer of 400 an error.
    errors.length = 0
    const shown = await textOf(page, 'main')
    t.equal(shown.match(/is not a column of repayments/g)?.length, 1)
    t.equal(await page.$eval('form[data-upload] [name=type]', ({ value }) => value), 'repayments')
    t.match(await page.$eval('input[type=file]', ({ value }) => value), /wrong\.csv$/)
    const link = await page.$eval('form[data-upload] .bad a', one => one.getAttribute('href'))
    t.equal((await fetch(url + link, { headers: { cookie: operator.cookie } })).status, 200)
  },
)

test(
  'another file is uploaded although the first one arrived from the same form unnoticed',
  operator.cookie,
  async (t, { page, go }) => {
    await go('/console/portfolio')
    await page.select('form[data-upload] [name=type]', 'repayments')
    const folder = t.testdir({ 'one.csv': FILE, 'two.csv': `${FILE}\n${FILE.split('\n')[1]}` })
    const input = (await page.$('input[type=file]')) as ElementHandle<never> | null
    await input?.uploadFile(join(folder, 'one.csv'))
    await page.evaluate(`(async form => {
      await fetch(form.action, { method: 'POST', body: new FormData(form) })
    })(document.querySelector('form[data-upload]'))`)
    await input?.uploadFile(join(folder, 'two.csv'))
    await Promise.all([page.waitForNavigation(), page.click('form[data-upload] button')])
    t.match(await textOf(page, '.facts'), /Rows\s*2/)
  },
)

test(
  'every page is accessible, fits a phone, and runs nothing that came from outside',
  admin.cookie,
  async (t, { page, go }) => {
    for (const path of [
      ...(await allPages()),
      '/console/payments/gateway_a/pay_markup?bodies=true',
      `/console/loans/${encodeURIComponent(MARKUP)}`,
      `/console/search?q=${encodeURIComponent(MARKUP)}`,
    ]) {
      await go(path)
      t.same(await violations(page), [], path)
      await page.emulateMediaFeatures([STILL, { name: 'prefers-color-scheme', value: 'dark' }])
      t.same(await violations(page, { runOnly: ['color-contrast'] }), [], `${path} in the dark`)
      await page.emulateMediaFeatures([STILL])
      // Also what 1,280 pixels are at a zoom of 400 %.
      // Single sign-on names accounts as it likes.
      await page.evaluate(`document.querySelector('.who a').textContent = 'name@'.repeat(20)`)
      await page.setViewport({ width: 320, height: 800 })
      t.equal(
        await page.evaluate('document.documentElement.scrollWidth'),
        320,
        `${path} on a phone`,
      )
      t.same(await violations(page, TARGETS), [], `${path} for a finger`)
      await page.setViewport({ width: 1280, height: 800 })
      t.notMatch(await page.title(), /^\d$/, path)
      const html = await page.content()
      t.notMatch(html, EVALUATED, path)
      t.ok(html.length < 500_000, path)
      t.equal((html.match(/<h1/g) ?? []).length, 1, path)
    }
    t.equal(await page.evaluate('document.documentElement.lang'), 'en')
  },
)

test(
  'the Tab key goes through the top of a page as it is read, at a zoom of 400 % too',
  operator.cookie,
  async (t, { page, go }) => {
    await page.setViewport({ width: 320, height: 256 })
    await go('/console/operations')
    const tops = await page.$$eval('.top :is(a, input, button):not([type=hidden])', all =>
      all.map(one => Math.round(one.getBoundingClientRect().bottom / 20)),
    )
    t.same(
      tops,
      tops.toSorted((a, b) => a - b),
    )
  },
)

test(
  'a page whose session ends stays, and after the login of its account it is as it was',
  '',
  async (t, { page, errors, go }) => {
    const path = '/console/payments/gateway_a/pay_nobody'
    const note = '[action$="/note"] [name=note]'
    await go(`/console/login?next=${path}`)
    await logIn(page, OPERATOR)
    const typed = 'they called twice'.repeat(50)
    await page.type(note, typed)
    await page.evaluate(`fetch('/console/logout', { method: 'POST' })`)
    await page.waitForSelector('#ended')
    t.equal(new URL(page.url()).pathname, path)
    await Promise.all([page.waitForNavigation(), page.click('#ended a')])
    await logIn(page, ADMIN)
    t.equal(await page.$eval(note, field => (field as unknown as { value: string }).value), '')
    await page.evaluate(`fetch('/console/logout', { method: 'POST' })`)
    await go(`/console/login?next=${path}`)
    await logIn(page, OPERATOR)
    t.equal(await page.$eval(note, field => (field as unknown as { value: string }).value), typed)
    // The browser itself logs the refused refresh.
    errors.length = 0
  },
)

test(
  'after a login, a form has what was typed and the page’s newer values, not its older ones',
  '',
  async (t, { page, errors, go }) => {
    const path = '/console/payments/gateway_a/pay_unknown_loan'
    await go(`/console/login?next=${path}`)
    await logIn(page, OPERATOR)
    // A refused form comes back with what was typed, which counts as typed.
    await page.type('[action$="/note"] [name=note]', '  ')
    await Promise.all([page.waitForNavigation(), page.click('[action$="/note"] button')])
    const fields = () =>
      page.$$eval('.forms :is(input:not([type=hidden]), select, textarea)', all =>
        all.map((one: any) => `${one.name}=${one.value}`),
      )
    const before = await fields()
    await page.type('[action*="/assign"] [name=note]', 'they called')
    await page.evaluate(`fetch('/console/logout', { method: 'POST' })`)
    await page.waitForSelector('#ended')
    await call('POST', '/api/payments/gateway_a/pay_unknown_loan/assign', {
      external_loan_id: 'L-78',
    })
    await runBatch(call)
    await Promise.all([page.waitForNavigation(), page.click('#ended a')])
    await logIn(page, OPERATOR)
    const now = before.map(one => one.replace('=L-77', '=L-78'))
    now[now.indexOf('note=')] = 'note=they called'
    t.same(await fields(), now)
    errors.length = 0
  },
)

test(
  'the form of a pause takes any end, and has the new one after a login, not the older page’s',
  '',
  async (t, { page, errors, go }) => {
    const pause = (until: string) =>
      call('POST', '/api/ledger/pause', { reason: 'close of business', until })
    const end = () => page.$eval('[name=until]', (field: any) => field.value)
    await pause('2099-11-20T22:00:00+05:30')
    await go('/console/login?next=/console')
    await logIn(page, OPERATOR)
    await page.evaluate(`fetch('/console/logout', { method: 'POST' })`)
    await page.waitForSelector('#ended')
    await pause('2099-11-25T09:30:41+05:30')
    await until(async () => /2099-11-25T09:30:41/.test((await operator('/console')).text))
    await Promise.all([page.waitForNavigation(), page.click('#ended a')])
    await logIn(page, OPERATOR)
    t.equal(await end(), '2099-11-25T09:30:41')
    const takes = (value: string) =>
      page.$eval(
        '[name=until]',
        (field: any, value) => Object.assign(field, { value }).checkValidity(),
        value,
      )
    t.ok(await takes('2099-11-25T10:00'), 'a full minute, although the pause ends within one')
    await operator('/console/resume', {})
    await sql`delete from loanops.ledger_pause`.execute(db)
    errors.length = 0
  },
)

test(
  'a notice says what was just done, and is gone when the page is opened again',
  operator.cookie,
  async (t, { page, go }) => {
    const path = '/console/payments/gateway_a/rfnd_1?kind=refund'
    await go(path)
    await page.type('[action*="/note?"] [name=note]', 'seen')
    await Promise.all([page.waitForNavigation(), page.click('[action*="/note?"] button')])
    t.match(await textOf(page, '[role=status]'), /The note is saved/)
    t.equal(page.url(), url + path)
    await page.reload()
    t.equal(await page.$('[role=status]'), null)
  },
)

test(
  'after a login each form of a refund has its own note and its own outcome',
  '',
  async (t, { page, errors, go }) => {
    const path = '/console/payments/gateway_a/rfnd_1?kind=refund'
    await go(`/console/login?next=${encodeURIComponent(path)}`)
    await logIn(page, OPERATOR)
    await page.type('[action*="/reverse?"] [name=note]', 'the lender called')
    await page.type('[action*="/resolve?"] [name=note]', 'a test')
    await page.select('[action*="/resolve?"] [name=outcome]', 'dismiss')
    await page.evaluate(`fetch('/console/logout', { method: 'POST' })`)
    await page.waitForSelector('#ended')
    await Promise.all([page.waitForNavigation(), page.click('#ended a')])
    await logIn(page, OPERATOR)
    t.same(
      await page.$$eval('main form:has([name=outcome])', forms =>
        forms.map(({ elements: all }: any) => [all.outcome.value, all.note.value]),
      ),
      [
        ['reverse', 'the lender called'],
        ['dismiss', 'a test'],
      ],
    )
    // The browser itself logs the refused refresh.
    errors.length = 0
  },
)

test(
  'a day of the books fits the screen of a laptop, however much money is in each bucket',
  operator.cookie,
  async (t, { page, go }) => {
    await page.setViewport({ width: 1280, height: 800 })
    await go('/console/books?from=2026-02-01&to=2026-02-28')
    const hidden = await page.evaluate(`(() => {
      const days = document.querySelector('[aria-label=Days]')
      for (const cell of days.querySelectorAll('td.number')) cell.textContent = '1,234: INR 1,23,45,678.00'
      return days.scrollWidth - days.clientWidth
    })()`)
    t.equal(hidden, 0)
  },
)

test(
  'without JavaScript, the pages display, and their forms work',
  operator.cookie,
  async (t, { page, go }) => {
    await page.setJavaScriptEnabled(false)
    await go('/console')
    await page.type('form[action="/console/pause"] [name=reason]', 'close of business')
    await Promise.all([
      page.waitForNavigation(),
      page.click('form[action="/console/pause"] button'),
    ])
    const { rows } = await db
      .selectFrom('loanops.ledger_pause')
      .select('reason')
      .execute()
      .then(rows => ({ rows }))
    t.same(rows, [{ reason: 'close of business' }])
    await Promise.all([
      page.waitForNavigation(),
      page.click('form[action="/console/resume"] button'),
    ])
  },
)

/** The pages with an id or a query, besides all others. */
const OTHER_PAGES = [
  '/console/operations?status=failed',
  '/console/payments/gateway_a/pay_posted',
  '/console/payments/gateway_a/rfnd_1?kind=refund',
  '/console/loans/L-1001?ledger=now',
  '/console/clients/C-1001',
  '/console/books?from=2026-02-01&to=2026-02-28',
  '/console/callbacks/replay?from=2026-11-20T00:00&to=2026-11-20T09:45:30',
  '/console/accounts/asha.rao/disable',
  '/console/bulk?decision=payments.dismiss&note=x&state=suspense',
]
/** They are no pages without a query. */
const ONLY_WITH_QUERY = ['/console/bulk', '/console/callbacks/replay']

async function allPages(): Promise<string[]> {
  const routes = await consoleRoutes()
  const plain = routes
    .filter(({ method, url }) => method === 'GET' && !/:|\.csv$/.test(url))
    .map(({ url }) => url)
  return [...plain.filter(url => !ONLY_WITH_QUERY.includes(url)), ...OTHER_PAGES]
}

type Window = { page: Page; errors: string[]; go(path: string): Promise<unknown> }

/** A window with the login of the cookie alone, and with the errors that the browser logs. */
async function openWindow(browser: Browser, url: string, cookie: string): Promise<Window> {
  await browser.deleteCookie(...(await browser.cookies()))
  const [name = '', value = ''] = cookie.split('=')
  if (cookie !== '')
    await browser.setCookie({ name, value, domain: new URL(url).hostname, path: '/console' })
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('console', message => {
    if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()}`)
  })
  page.on('pageerror', error => errors.push(`${page.url()}: ${error}`))
  return { page, errors, go: path => page.goto(url + path, { waitUntil: 'load' }) }
}

async function logIn(page: Page, { username, password }: { username: string; password: string }) {
  await page.type('[name=username]', username)
  await page.type('[name=password]', password)
  await Promise.all([page.waitForNavigation(), page.click('main button')])
}

async function textOf(page: Page, selector: string): Promise<string> {
  const element = `document.querySelector(${JSON.stringify(selector)})`
  return String(await page.evaluate(`${element}?.innerText ?? ''`))
}
