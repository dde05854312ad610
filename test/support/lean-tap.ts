// Imported by each test file's process before tap. It turns off features of tap that we do not use, a tenth of the suite's time.
import hooks from 'node:async_hooks'
import nodeModule, { syncBuiltinESMExports } from 'node:module'

// Tap tracks every promise to attribute an error to one of several concurrent tests. Ours mostly run one at a time:
// an uncaught error ends the process, and the file fails with it.
const noHook: hooks.AsyncHook = { enable: () => noHook, disable: () => noHook }
hooks.createHook = () => noHook
// Tap reads every source file again to map its lines for coverage.
nodeModule.registerHooks = () => ({ deregister: () => undefined })
syncBuiltinESMExports()
// Node strips types without moving a line, so a stack trace needs no source maps, which tap turns on.
process.setSourceMapsEnabled(false)
// Tap keeps fixtures in the project's folder, where a second run of the same file would replace them.
if (process.env.TEST_RUN_FOLDER) process.env.TAP_CWD = process.env.TEST_RUN_FOLDER
