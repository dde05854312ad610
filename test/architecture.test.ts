import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import t from 'tap'
import { allCrashPoints } from '../src/worker.ts'
import ts from './support/typescript-6.ts'

/**
 * The import law, from the top: a folder imports only from itself and from lower levels, not from its neighbours. A file
 * directly in src either starts the service and may import all of them, or may be imported by all of them and imports none.
 */
const LAW = [
  ['start', 'embedded'],
  ['console', 'restore'],
  ['callbacks'],
  ['portfolio', 'books'],
  ['payments'],
  ['operations', 'purge'],
  ['engine'],
  ['ledger'],
  ['accounts', 'ops'],
  ['http', 'queue', 'csv'],
  ['database'],
  ['config'],
  // The list of gateways, which config needs too.
  ['payments/gateways'],
  ['log', 'text'],
]
const STARTERS = [
  'main.ts',
  'commands.ts',
  'role.ts',
  'api.ts',
  'routes.ts',
  'api-context.ts',
  'worker.ts',
  'jobs.ts',
]
const MAX_LOOSE_FILES = 12
const MAX_LOOSE_FILES_OF_A_FOLDER = 20
const MAX_LINES = 300
const MEDIAN_LINES = 50
const MAX_FUNCTION_LINES = 50
const MAX_SQL_COLUMNS = 140
/** The sandbox may have functions with more. */
const MAX_PARAMETERS = 4
/** Comments on lines of their own. Several lines are one comment. */
const COMMENT = /^[ \t]*(?:\/\*\*[\s\S]*?\*\/|(?:(?:\/\/|--) .*\n[ \t]*)+)/gm
/** A comma shows that a sentence follows: "Without quotes, some readers drop spaces." */
const FRAGMENT = /^(?:Those|Whose|(?:Of|For|As|By|From|In|To|With|Without)\b[^,]*?(?:[.:;]\s|$))/
const TITLE_OF_A_TEMPLATE = /\bt\.test\(\s*`([^`]*)`/g
const TITLE_TOO_LONG = /\bt\.test\(\s*'[^']{101,}'/

const root = resolve(import.meta.dirname, '../src')
const files = sourcesIn(root)
/** The imported names and their file, in static and dynamic imports. */
const IMPORTED = /\{([^{}]*)\}\s*(?:from|= await import\()\s*'(\.[^']+)'/g
const EXPORTED = /^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm
/** The generated types are there for whoever needs them; the others are imported by files that suite.ts writes. */
const IMPORTED_OTHERWISE = [
  'database/database.types.ts',
  'support/run-file.ts',
  'support/shuffle-tests.ts',
]
const texts = new Map(files.map(file => [file, readFileSync(resolve(root, file), 'utf8')]))

t.test('every folder of src has a level in the law, and few files are outside folders', async t => {
  for (const file of files) {
    if (isLoose(file) || placeOf(file) === 'sandbox') continue
    t.ok(LAW.flat().includes(placeOf(file)), file)
  }
  t.ok(files.filter(isLoose).length <= MAX_LOOSE_FILES)
})

t.test('a folder with many files has subfolders', async t => {
  const folders = Map.groupBy(files.filter(isInFeature), file => dirname(file))
  for (const [folder, loose] of folders)
    t.ok(loose.length <= MAX_LOOSE_FILES_OF_A_FOLDER, `${folder} has ${loose.length} files`)
})

t.test('imports go downward only, types included', async t => {
  for (const [file, text] of texts) {
    for (const imported of importsOf(file, text)) {
      if ([placeOf(file), 'sandbox'].includes(placeOf(imported))) continue
      t.ok(levelOf(imported) > levelOf(file), `${file} imports ${imported}`)
    }
  }
})

t.test('no file imports itself indirectly, types included', async t => {
  const isDone = new Set<string>()
  for (const file of files) t.same(cycleFrom(file, isDone, importedBy), [], file)
})

t.test('the subfolders of a feature import each other in one direction only', async t => {
  const rooms = Map.groupBy(files.filter(isInFeature), roomOf)
  const importedByRoom = (room: string) =>
    (rooms.get(room) ?? [])
      .flatMap(file => importedBy(file).filter(other => featureOf(other) === featureOf(file)))
      .map(roomOf)
      .filter(other => other !== room)
  const isDone = new Set<string>()
  for (const room of rooms.keys()) t.same(cycleFrom(room, isDone, importedByRoom), [], room)
})

t.test('the sandbox imports no other folder, and only the starting files import it', async t => {
  for (const [file, text] of texts) {
    for (const imported of importsOf(file, text)) {
      if (placeOf(file) === 'sandbox')
        t.equal(placeOf(imported), 'sandbox', `${file} imports ${imported}`)
      else if (placeOf(imported) === 'sandbox')
        t.match(file, /^(commands|embedded\/start-embedded)\.ts$/, `${file} imports ${imported}`)
    }
  }
})

t.test('no line of the SQL in migrations/views exceeds 140 columns', async t => {
  const folder = resolve(root, '../migrations/views')
  for (const name of readdirSync(folder)) {
    const lines = readFileSync(resolve(folder, name), 'utf8').split('\n')
    const tooLong = lines.filter(line => line.length > MAX_SQL_COLUMNS)
    t.same(tooLong, [], name)
  }
})

t.test('the paths of the ledger’s API are in src/ledger only', async t => {
  const LEDGER_PATH =
    /['"`]\/(clients|loans|paymenttypes|loanproducts)\b|\/external-id\/|\/transactions\b|\?(command|associations)=/
  for (const [file, text] of texts) {
    if (['ledger', 'sandbox'].includes(placeOf(file))) continue
    t.notMatch(text, LEDGER_PATH, file)
  }
})

t.test('features list the crash points that the code passes, each once', async t => {
  const passed = [...texts.values()].flatMap(text =>
    [...text.matchAll(/\bcrashPoint\('([^']+)'\)/g)].map(([, point]) => point),
  )
  t.same(allCrashPoints.toSorted(), [...new Set(passed)].sort())
})

t.test('an error that wraps another one keeps it as its cause', async t => {
  const CAUGHT = /\bcatch(?: \(\w+\)|\([^{}]*=>)? \{\n(.*?)^\s*\}\)?$/gms
  for (const [file, text] of texts) {
    if (placeOf(file) === 'sandbox') continue
    // A comment in the block says why, where the cause must not be kept.
    for (const [block, body = ''] of text.matchAll(CAUGHT))
      if (/throw new /.test(body)) t.match(body, /cause/, `${file}: ${block}`)
  }
})

t.test('no file is a dumping ground or too large to keep in mind', async t => {
  const sizes = [...texts.values()].map(text => text.split('\n').length - 1).sort((a, b) => a - b)
  t.ok((sizes[Math.floor(sizes.length / 2)] as number) <= MEDIAN_LINES, 'the median')
  for (const [file, text] of texts) {
    if (file === 'database/database.types.ts') continue
    t.ok(text.split('\n').length - 1 <= MAX_LINES, `${file} has at most ${MAX_LINES} lines`)
    t.notMatch(file, /(^|\/)(index|utils?|helpers?|common|types|service)\/?(\.ts)?$/, file)
  }
})

t.test('no function is too long or takes too many arguments to be read at once', async t => {
  t.same(
    [...texts].flatMap(([file, text]) => largeFunctionsIn(file, text)),
    [],
  )
})

t.test('the title of a test names its subject, in one short sentence', async t => {
  for (const file of sourcesIn(import.meta.dirname)) {
    const text = readFileSync(resolve(import.meta.dirname, file), 'utf8')
    t.notMatch(text, /\bt\.test\(\s*['"`]what /i, file)
    t.notMatch(text, TITLE_TOO_LONG, file)
    for (const [, title = ''] of text.matchAll(TITLE_OF_A_TEMPLATE))
      t.match(title.replaceAll(/\$\{[^}]*\}/g, ''), /[a-z] [a-z]/i, `${file}: ${title}`)
  }
})

t.test('a comment names its subject, instead of beginning with a preposition', async t => {
  for (const folder of ['src', 'test', 'migrations/views'])
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(ts|js|sql)$/.test(file)) continue
      for (const [comment] of readFileSync(`${folder}/${file}`, 'utf8').matchAll(COMMENT)) {
        const words = comment.replaceAll(/^[ \t]*(?:\/\*\*|\*\/?|\/\/|--)/gm, '').trim()
        t.notMatch(words, FRAGMENT, `${folder}/${file}`)
      }
    }
})

t.test('everything that is exported is imported by another file, types included', async t => {
  const imported = new Set<string>()
  const exported: [folder: string, name: string, file: string][] = []
  for (const folder of [root, import.meta.dirname]) {
    for (const file of sourcesIn(folder)) {
      const text = readFileSync(resolve(folder, file), 'utf8')
      for (const [, name = ''] of text.matchAll(EXPORTED)) exported.push([folder, name, file])
      for (const [, names = '', specifier = ''] of text.matchAll(IMPORTED)) {
        const from = resolve(folder, dirname(file), specifier)
        for (const name of names.split(','))
          imported.add(
            `${from} ${
              name
                .trim()
                .replace(/^type /, '')
                .split(' ', 1)[0]
            }`,
          )
      }
    }
  }
  for (const [folder, name, file] of exported)
    if (!IMPORTED_OTHERWISE.includes(file))
      t.ok(imported.has(`${resolve(folder, file)} ${name}`), `${file} exports ${name}`)
})

t.test('no two files export one name', async t => {
  const places = new Map<string, string>()
  for (const [file, text] of texts) {
    if (placeOf(file) === 'sandbox') continue
    for (const [, name = ''] of text.matchAll(EXPORTED)) {
      t.equal(places.get(name) ?? file, file, `${file} exports ${name}`)
      places.set(name, file)
    }
  }
})

/** The innermost folder that is in the law; the files directly in src are one place above all of them and one below. */
function placeOf(file: string): string {
  if (isLoose(file)) return STARTERS.includes(file) ? 'starters' : 'loose files'
  const [folder = '', inner] = file.split('/')
  return LAW.flat().includes(`${folder}/${inner}`) ? `${folder}/${inner}` : folder
}

function isLoose(file: string): boolean {
  return !file.includes('/')
}

/** The level of a file's folder in the law; above or below all of them for a file directly in src. */
function levelOf(file: string): number {
  if (isLoose(file)) return STARTERS.includes(file) ? -1 : LAW.length
  return LAW.findIndex(places => places.includes(placeOf(file)))
}

function sourcesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.filter(file => file.endsWith('.ts'))
}

/** The functions with more lines than allowed, comments before them not counted. */
function largeFunctionsIn(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line + 1
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const [first, last] = [lineOf(node.getStart(source)), lineOf(node.end)]
      const lines = last - first + 1
      if (lines > MAX_FUNCTION_LINES) found.push(`${file}:${first} has ${lines} lines`)
      const { length } = node.parameters
      if (length > MAX_PARAMETERS && placeOf(file) !== 'sandbox')
        found.push(`${file}:${first} has ${length} parameters`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)].map(([, specifier]) =>
    relative(root, resolve(root, dirname(file), specifier as string)),
  )
}

/** The path from a file or folder back to itself or to one on the way; empty if there is none. */
function cycleFrom(
  start: string,
  isDone: Set<string>,
  next: (one: string) => string[],
  way: string[] = [],
): string[] {
  if (way.includes(start)) return [...way.slice(way.indexOf(start)), start]
  if (isDone.has(start)) return []
  for (const imported of next(start)) {
    const cycle = cycleFrom(imported, isDone, next, [...way, start])
    if (cycle.length > 0) return cycle
  }
  isDone.add(start)
  return []
}

const importedBy = (file: string) => importsOf(file, texts.get(file) ?? '')

const featureOf = (file: string) => file.split('/')[0]
/** The sandbox is a program of its own, with the ledger's own tangles. */
const isInFeature = (file: string) => !isLoose(file) && featureOf(file) !== 'sandbox'

/** The subfolder that a file is in; the file itself if it is directly in its feature's folder. */
function roomOf(file: string): string {
  const [feature, room, ...rest] = file.split('/')
  return rest.length === 0 ? file : `${feature}/${room}`
}
