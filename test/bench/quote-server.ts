import Fastify from 'fastify'
import { CALL_BODY } from '../../rpc/contract/market.ts'

/** The bound of a quote: a Fastify POST handler with the same body schema and a constant answer of the same length. */
const length = Number(process.argv[2])
const content = JSON.stringify({ filler: 'x'.repeat(Math.max(0, length - 13)) })
const app = Fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } })
app.post('/api/x402/node-network-stats', { schema: { body: CALL_BODY } }, (_, reply) => {
  void reply.code(402).type('application/json; charset=utf-8').send(content)
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${url}\n`)
