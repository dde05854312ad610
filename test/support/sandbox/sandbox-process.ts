// node test/support/sandbox/sandbox-process.ts [PORT] [BOOKS_FILE]: runs the sandbox ledger alone, for a test that kills it.
import { startSandbox } from '../../../src/sandbox/server.ts'

const [port = '0', booksFile] = process.argv.slice(2)
const { url, controlUrl } = await startSandbox({
  port: Number(port),
  ...(booksFile === undefined ? {} : { booksFile }),
})
console.log(JSON.stringify({ url, controlUrl }))
