import type { Page } from 'puppeteer-core'
import t, { type Test } from 'tap'
import { APPROVER } from '../support/accounts/approvals.ts'
import { openBrowser, violations } from '../support/console/browser.ts'
import { type Browse, loggedIn, startWithConsole } from '../support/console/console.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { withLedger } from '../support/payments/payments.ts'
import { dispute, withSigned } from '../support/payments/reversals.ts'

const DISPUTE = '/console/payments/gateway_a/disp_1?kind=chargeback'

t.test('the forms Reverse and Restore move the money, the second only once approved', async t => {
  const APPROVALS = 'payment.restore'
  const service = withSigned(withLedger(await startWithConsole(t, { APPROVALS })))
  const { url, admin, operator } = service
  await admin('/console/accounts', { ...APPROVER, role: 'operator' })
  const approver = await loggedIn(url, APPROVER)
  await service.loan('L-1')
  const send = (event: object) => service.webhook('gateway_a', event, { lender: 'LENDER_02' })
  await send(capturedA({ loan: 'L-1' }))
  await service.batch()
  await send(dispute('lost', { paise: 30_000 }))
  await service.batch()
  const page = await openPage(t, url)

  await as(operator, DISPUTE)
  await fitsAndIsAccessible(t, page, 'reverse')
  await submit(page, 'form:has([name=outcome][value=reverse])', 'the bank took it')
  t.match(await page.content(), /role="status"/)
  await service.ended('disp_1')
  t.same(await service.standing(), { 'pay_1-r2': 700 })

  await send(dispute('won', { paise: 30_000, phase: 'arbitration' }))
  await service.batch()
  await as(operator, DISPUTE)
  t.notMatch(await page.content(), /Reverse<\/button>/)
  await fitsAndIsAccessible(t, page, 'restore')
  await submit(page, 'form:has([name=outcome][value=restore])', 'the bank gave it back')
  t.match(await page.content(), /Sent for approval\. Nothing happens until/)
  t.same(await service.standing(), { 'pay_1-r2': 700 })

  const { body } = await service.call('GET', '/api/approvals?limit=1')
  const path = `/console/approvals/${body.approvals[0].approval_id}`
  await as(approver, path)
  await submit(page, `form[action="${path}/approve"]`, 'seen the letter')
  t.match(await page.content(), /You approved it/)
  await service.ended('disp_1')
  t.same(await service.standing(), { 'pay_1-r3': 1000 })
  t.same(await service.shown('disp_1'), ['failed', null, null, null])

  async function as({ cookie }: Browse, path: string): Promise<void> {
    const [name = '', value = ''] = cookie.split('=')
    await page.setCookie({ name, value, url })
    await page.goto(url + path)
  }
})

async function openPage(t: Test, url: string): Promise<Page> {
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${url}/console/login`)
  return page
}

async function submit(page: Page, form: string, note: string): Promise<void> {
  await page.type(`${form} [name=note]`, note)
  await Promise.all([page.waitForNavigation(), page.click(`${form} button`)])
}

async function fitsAndIsAccessible(t: Test, page: Page, name: string): Promise<void> {
  for (const width of [1280, 375]) {
    await page.setViewport({ width, height: 800 })
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, name)
    const { PICTURES } = process.env
    if (PICTURES)
      await page.screenshot({ path: `${PICTURES}/${name}-${width}.png`, fullPage: true })
  }
  t.same(await violations(page), [], name)
}
