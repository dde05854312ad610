// A server that accepts operations without a database, with the first LAYERS of the layers that a request to the service passes.
import { type FastifyPluginAsync, fastify, LogController } from 'fastify'
import { forCallers } from '../../src/accounts/access/for-callers.ts'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { newOperation } from '../../src/engine/accept.ts'
import { trackingId } from '../../src/engine/operation.ts'
import { readJsonBodies } from '../../src/http/body/json-body.ts'
import { errorHandler, notFound } from '../../src/http/problem.ts'
import { sendSafeHeaders } from '../../src/http/safe-headers.ts'
import { serializer } from '../../src/http/serializer.ts'
import { validator } from '../../src/http/validator.ts'
import { newId } from '../../src/ids.ts'
import { operationCatalogue } from '../../src/operations/catalogue.ts'
import { OperateResponse } from '../../src/operations/reading/operation-record.ts'
import { operateValidator } from '../../src/operations/validate.ts'
import { measureRequests } from '../../src/ops/measure-requests.ts'
import { openMetrics } from '../../src/ops/metrics.ts'
import { HTTP_LAYERS, type HttpLayer } from './http-layers.ts'

const config = readConfig(process.env)
const has = (layer: HttpLayer) => HTTP_LAYERS.indexOf(layer) < Number(process.env.LAYERS)
const validate = operateValidator(operationCatalogue(config.lenders), 'refuse')
const app = fastify({
  genReqId: newId,
  logController: new LogController({ disableRequestLogging: true }),
})
if (has('strict JSON')) readJsonBodies(app)
if (has('problems')) {
  app.setValidatorCompiler(validator)
  app.setErrorHandler(errorHandler)
  app.setNotFoundHandler(notFound)
}
if (has('serialization')) app.setSerializerCompiler(serializer)
if (has('metrics')) measureRequests(app, openMetrics([]).registry)
if (has('safe headers')) sendSafeHeaders(app)
app.get('/healthz', async () => ({ status: 'ok' }))
const callers: FastifyPluginAsync = async scope => {
  if (has('tokens')) {
    const { DATABASE_URL: url } = config
    await forCallers(scope, openDatabase(url, { max: 1, name: 'bench', onError: () => {} }), config)
  }
  const schema = has('serialization') ? { response: { 202: OperateResponse } } : {}
  scope.post('/ledger/operate', { schema }, async (request, reply) => {
    const id = has('validation') ? accepted(request.body) : 'an operation'
    return reply.code(202).header('location', id).send({ tracking_id: id, status: 'processing' })
  })
}
await app.register(callers, { prefix: '/api' })
await app.listen({ port: config.PORT })

function accepted(body: unknown): string {
  const { operation, data } = validate(body)
  return trackingId(newOperation(operation, data, null))
}
