import type { Asked } from './ledger-requests.ts'

const RAIL = { scheme: 'native-x402', network: 'mainnet' }
const PAYLOAD = { txId: 'ab'.repeat(32), secret: 'cd'.repeat(32) }

/** A body of x402 version 1 about a payment that does not exist. */
function body(change: object = {}): object {
  const extra = { serviceId: 'node-network-stats', request: '' }
  const asked = { ...RAIL, payTo: 'nobody-there', maxAmountRequired: '1', maxTimeoutSeconds: 60, extra, ...change }
  return { x402Version: 1, paymentPayload: { x402Version: 1, ...RAIL, payload: PAYLOAD }, paymentRequirements: asked }
}

const judged =
  (path: string): Asked =>
  (send) => [
    send(path, body()),
    send(path, body({ payTo: 7 })),
    send(path, body({ scheme: 'exact' })),
    send(path, { ...body(), x402Version: 3 }),
    send(path, { x402Version: 2, paymentPayload: {}, paymentRequirements: {} }),
    send(path, {}),
    send(path, '{'),
  ]

/** Requests to the facilitator that it answers or refuses without any payment on chain. */
export const FACILITATOR_REQUESTS: Readonly<Record<string, Asked>> = {
  getFacilitatorKinds: (send) => [send('/facilitator/supported'), send('/facilitator/supported?more=1')],
  verifyPayment: judged('/facilitator/verify'),
  settlePayment: judged('/facilitator/settle'),
}
