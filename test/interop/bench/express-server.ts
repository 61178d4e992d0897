import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import { CHAIN_ID } from '../evm/network.ts'

/** The part of express that is called here: the package has no types. */
interface App {
  use(middleware: unknown): void
  post(path: string, handler: (request: unknown, response: { json(body: object): void }) => void): void
  listen(port: number, host: string, ready: () => void): Server
}
const express = createRequire(import.meta.url)('express') as () => App

/** The seller that the node is compared with, built from the official packages as their README shows. */
const [facilitatorUrl = '', path = '', payTo = ''] = process.argv.slice(2)
const network = `eip155:${CHAIN_ID}` as const
const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl })
const server = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme())
const accepts = { scheme: 'exact', price: '$0.002', network, payTo }
const app = express()
app.use(paymentMiddleware({ [`POST ${path}`]: { accepts, description: 'Does what its request says' } }, server))
app.post(path, (_, response) => void response.json({ paid: true }))
const listening = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(listening.address() as { readonly port: number }).port}\n`)
})
