import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from './run-tool.ts'

/** A generated client: `drive` makes it in a folder of its own, compiles it, and drives a loan with it. */
export type Client = {
  name: string
  /** Programs that must be there; the rest is fetched from their registries, in these versions. */
  tools: string[]
  versions: string
  drive(at: { folder: string; documents: Documents }): Promise<void>
}
/** The files of the contract in OpenAPI 3.1 and in 3.0. */
export type Documents = { current: string; old: string }

const OAPI_CODEGEN = 'v2.8.2'
const PYTHON_CLIENT = '0.29.1'
const OPENAPI_GENERATOR = '7.25.0'
const SOURCES = import.meta.dirname

const typescript: Client = {
  name: 'typescript',
  tools: [],
  versions: 'openapi-typescript and openapi-fetch of package.json',
  async drive({ folder, documents }) {
    cpSync(join(SOURCES, 'typescript'), folder, { recursive: true })
    const hook = `--import=${resolve('test/support/typescript-api.ts')}`
    const cli = resolve('node_modules/openapi-typescript/bin/cli.js')
    await run(process.execPath, [hook, cli, documents.current, '-o', 'loanops.ts'], folder)
    await run(resolve('node_modules/.bin/tsc'), ['-p', '.'], folder)
    await run(process.execPath, ['drive.ts'], folder)
  },
}

const python: Client = {
  name: 'python',
  tools: ['python3'],
  versions: `openapi-python-client ${PYTHON_CLIENT}`,
  async drive({ folder, documents }) {
    cpSync(join(SOURCES, 'python'), folder, { recursive: true })
    const bin = join(folder, 'venv/bin')
    if (!existsSync(bin)) {
      await run('python3', ['-m', 'venv', 'venv'], folder)
      await run(join(bin, 'pip'), ['install', `openapi-python-client==${PYTHON_CLIENT}`], folder)
    }
    const options = ['--meta', 'none', '--output-path', 'loanops', '--overwrite']
    options.push('--config', 'openapi-python-client.yaml', '--fail-on-warning')
    await run(
      join(bin, 'openapi-python-client'),
      ['generate', '--path', documents.current, ...options],
      folder,
    )
    await run(join(bin, 'python'), ['-m', 'compileall', '-q', 'loanops'], folder)
    await run(join(bin, 'python'), ['drive.py'], folder)
  },
}

const go: Client = {
  name: 'go',
  tools: ['go'],
  versions: `oapi-codegen ${OAPI_CODEGEN}, from the document in OpenAPI 3.0`,
  async drive({ folder, documents }) {
    cpSync(join(SOURCES, 'go'), folder, { recursive: true })
    mkdirSync(join(folder, 'loanops'), { recursive: true })
    const tool = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`
    await run('go', ['run', tool, '-config', 'oapi-codegen.yaml', documents.old], folder)
    await run('go', ['mod', 'tidy'], folder)
    await run('go', ['vet', './...'], folder)
    await run('go', ['run', '.'], folder)
  },
}

const java = (library: 'native' | 'okhttp-gson'): Client => ({
  name: `java-${library}`,
  tools: ['java', 'mvn'],
  versions: `openapi-generator ${OPENAPI_GENERATOR}, library ${library}`,
  async drive({ folder, documents }) {
    const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`
    const copy = `org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy`
    await run('mvn', ['-q', '-B', copy, `-Dartifact=${artifact}`, '-DoutputDirectory=.'], folder)
    const jar = `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`
    const options = ['-g', 'java', '--library', library, '-i', documents.old, '-o', '.']
    writeFileSync(join(folder, '.openapi-generator-ignore'), 'src/test/**\n')
    await run('java', ['-jar', jar, 'generate', ...options], folder)
    const sources = join(folder, 'src/main/java')
    cpSync(join(SOURCES, 'java/Drive.java'), join(sources, 'Drive.java'))
    cpSync(join(SOURCES, 'java', library), sources, { recursive: true })
    const exec = 'org.codehaus.mojo:exec-maven-plugin:3.5.0:java'
    await run(
      'mvn',
      ['-q', '-B', 'compile', exec, '-Dexec.mainClass=Drive', `-Dexec.args=${library}`],
      folder,
    )
  },
})

export const CLIENTS = [typescript, python, go, java('native'), java('okhttp-gson')]
