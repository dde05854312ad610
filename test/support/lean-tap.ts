// Imported by each test file's process before tap, whose work for what we do not ask of it is a tenth of the suite's.
import hooks from 'node:async_hooks'
import nodeModule, { syncBuiltinESMExports } from 'node:module'

// To tell which of several tests that run at once has thrown, tap follows every promise. Ours run one after the other:
// an error that nobody caught ends the process, and the file fails with it.
const noHook: hooks.AsyncHook = { enable: () => noHook, disable: () => noHook }
hooks.createHook = () => noHook
// To know the lines of every source for a coverage, tap reads each once more.
nodeModule.registerHooks = () => ({ deregister: () => undefined })
syncBuiltinESMExports()
