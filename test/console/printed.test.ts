import t from 'tap'
import { openBrowser } from '../support/console/browser.ts'
import { browser as browse, startWithConsole } from '../support/console/console.ts'

/** A4 across, in pixels, without its margins. */
const PAPER = { width: 1_046, height: 720 }

t.test('a printed list has all of its columns', async t => {
  const { url, admin } = await startWithConsole(t)
  const long = { username: 'name@'.repeat(19), password: 'a pass phrase for tests' }
  await admin('/console/accounts', { ...long, role: 'operator' })
  await browse(url)('/console/login', long)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const [name = '', value = ''] = admin.cookie.split('=')
  await browser.setCookie({ name, value, domain: new URL(url).hostname, path: '/console' })
  await page.setViewport(PAPER)
  await page.emulateMediaType('print')
  await page.goto(`${url}/console/audit`)
  t.match(await page.evaluate('document.querySelector(".list").innerText'), 'name@name@')
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), PAPER.width)
  const list = await page.$eval('.scroll', one => [one.scrollWidth, one.clientWidth])
  t.equal(list[0], list[1])
})
