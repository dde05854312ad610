// npm run screenshots: fills a service of its own, and writes a picture of each console page to docs/images/.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ADMIN } from './support/accounts/admin.ts'
import { openBrowser } from './support/console/browser.ts'
import { fillConsole } from './support/console/console-data.ts'
import { TOKEN } from './support/service.ts'

const PICTURES = resolve('docs/images')
/** The pages by the name of their picture. */
const PAGES = {
  overview: '/console?refresh=off',
  operations: '/console/operations',
  payments: '/console/payments',
  payment: '/console/payments/gateway_a/pay_nobody',
  loan: '/console/loans/L-1001?ledger=now',
  books: '/console/books?from=2026-02-01&to=2026-02-28',
  portfolio: '/console/portfolio',
  callbacks: '/console/callbacks',
  audit: '/console/audit',
  accounts: '/console/accounts',
  sources: '/console/sources',
  password: '/console/password',
}
const WIDTHS = { desktop: 1280, phone: 375 }

const folder = mkdtempSync(join(tmpdir(), 'loanops-screenshots-'))
// If we are root, PostgreSQL runs as another user.
chmodSync(folder, 0o755)
const service = spawn(process.execPath, [resolve('src/main.ts'), '--embedded'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
  env: {
    ...process.env,
    PORT: '',
    DATABASE_URL: '',
    LEDGER_URL: '',
    INTERNAL_TOKEN: TOKEN,
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  },
})
try {
  const url = await whereItRuns()
  await fillConsole(url)
  await takePictures(url)
} finally {
  service.kill('SIGTERM')
  await once(service, 'exit')
  rmSync(folder, { recursive: true, force: true })
}

async function whereItRuns(): Promise<string> {
  let printed = ''
  for await (const text of service.stdout) {
    printed += text
    const [, url] = /API +(http\S+)\/api/.exec(printed) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`the service has not started:\n${printed}`)
}

async function takePictures(url: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    await page.setViewport({ width: WIDTHS.desktop, height: 800 })
    await page.goto(`${url}/console`)
    await page.screenshot({ path: join(PICTURES, 'login.png') })
    await page.type('[name=username]', ADMIN.username)
    await page.type('[name=password]', ADMIN.password)
    await Promise.all([page.waitForNavigation(), page.click('main button')])
    for (const [name, path] of Object.entries(PAGES))
      for (const [device, width] of Object.entries(WIDTHS)) {
        await page.setViewport({ width, height: 800 })
        await page.goto(url + path)
        const file = device === 'desktop' ? `${name}.png` : `${name}-${device}.png`
        await page.screenshot({ path: join(PICTURES, file) })
      }
  } finally {
    await browser.close()
  }
}
