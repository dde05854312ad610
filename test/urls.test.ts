import { readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import t from 'tap'
import { consoleRoutes } from './support/console/console-routes.ts'
import { startTestService } from './support/service.ts'

const ROOT = resolve(import.meta.dirname, '..')
/** What the routes of the API and the console are given as a prefix, and do not write themselves. */
const PREFIX = /^\/(api|console)(?=\/)/

const routeFiles = readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && !file.startsWith('sandbox/'))
  .map(file => ({ file: `src/${file}`, text: readFileSync(resolve(ROOT, 'src', file), 'utf8') }))
  .filter(
    ({ file, text }) =>
      /\bapp\.(get|post|put|delete)\(|actRoutes|listRoutes|listPage/.test(text) ||
      file.includes('/gateways/'),
  )

/** The table of docs/architecture.md, the longest URL first. */
const table = readFileSync(resolve(ROOT, 'docs/architecture.md'), 'utf8')
  .split('## Where a URL is handled')[1]
  ?.matchAll(/^\| (`\/.*?) \| `(src\/[^`]+)`/gm)
const lines = [...(table ?? [])]
  .flatMap(([, urls = '', place = '']) =>
    [...urls.matchAll(/`([^`]+)`/g)].map(([, url = '']) => ({ url, place })),
  )
  .toSorted((a, b) => b.url.length - a.url.length)

t.test('each URL of the API is written in one route file, which the table names', async t => {
  const { call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  const { paths } = (await call('GET', '/openapi.json')).body
  const urls = Object.keys(paths).map(path => path.replaceAll(/\{(\w+)\}/g, ':$1'))
  t.ok(urls.length > 40)
  const used = new Set<string>()
  for (const url of urls) {
    const files = filesWith(url, file => !file.startsWith('src/console/'))
    t.equal(files.length, 1, `${url} is written in ${files.join(' and ') || 'no file'}`)
    const line = lines.find(line => patternOf(line.url).test(url))
    t.ok(
      files[0]?.startsWith(line?.place ?? 'no line'),
      `${url} is in ${files[0]}, not ${line?.place}`,
    )
    used.add(line?.url ?? '')
  }
  for (const { url } of lines)
    if (url.startsWith('/api')) t.ok(used.has(url), `the table’s ${url} matches a URL`)
})

t.test('each URL of the console is written in one of its folders', async t => {
  const urls = new Set((await consoleRoutes()).map(({ url }) => url))
  // The home page has no path of its own, and one route serves the timelines of both kinds.
  for (const url of ['/console', '/console/loans/:id', '/console/clients/:id']) urls.delete(url)
  t.ok(urls.size > 40)
  for (const url of urls) {
    // A list is served as CSV too, at its own path with this ending.
    const files = [url, url.replace(/\.csv$/, '')].flatMap(path =>
      filesWith(path, file => file.startsWith('src/console/')),
    )
    const folders = new Set(files.map(dirname))
    t.equal(folders.size, 1, `${url} is written in ${[...folders].join(' and ') || 'no folder'}`)
  }
})

function filesWith(url: string, isIncluded: (file: string) => boolean): string[] {
  const literal = `'${url.replace(PREFIX, '')}'`
  return routeFiles
    .filter(({ file, text }) => isIncluded(file) && text.includes(literal))
    .map(({ file }) => file)
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replaceAll('.', '\\.').replaceAll('…', '.*')}$`)
}
