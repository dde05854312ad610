import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, launch, type Page } from 'puppeteer-core'

const ARGUMENTS = ['--lang=en-US', '--no-sandbox', '--disable-dev-shm-usage']

/** A real browser: the one from npm on Linux, elsewhere the one that CHROMIUM_PATH names. */
export async function openBrowser(): Promise<Browser> {
  const { path, args } = await chromium()
  return launch({
    executablePath: path,
    // Headless Chromium takes its locale from here, and Intl cannot read POSIX's.
    env: { ...process.env, LANG: 'en_US.UTF-8' },
    args: [...args, ...ARGUMENTS],
    headless: 'shell',
  })
}

/** What axe finds wrong with the page for people who cannot see or use it as others do. */
export async function violations(page: Page, options = {}): Promise<string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core')
  if (await page.evaluate('typeof axe === "undefined"'))
    await page.evaluate(readFileSync(axe, 'utf8'))
  const found = await page.evaluate(`axe.run(${JSON.stringify(options)})`)
  const { violations: all } = found as { violations: { id: string; nodes: { html: string }[] }[] }
  return all.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

async function chromium(): Promise<{ path: string; args: string[] }> {
  const own = process.env.CHROMIUM_PATH
  if (own !== undefined && own !== '') {
    if (!existsSync(own)) throw new Error(`CHROMIUM_PATH: there is no ${own}`)
    return { path: own, args: [] }
  }
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      'The browser from npm needs Linux on x64: install Chrome and set CHROMIUM_PATH to it',
    )
  // Unpacks the libraries that it needs too.
  process.env.AWS_LAMBDA_JS_RUNTIME = 'nodejs22.x'
  const { default: packed } = await import('@sparticuz/chromium')
  // Our pages draw nothing in 3D, and emulating a graphics card takes a quarter of the browser's CPU.
  packed.setGraphicsMode = false
  return { path: await packed.executablePath(), args: packed.args }
}

// Run by itself, it only unpacks it.
if (import.meta.main) await chromium()
