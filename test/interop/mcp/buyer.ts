import { randomBytes } from 'node:crypto'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import { preparePayment, quoteCall } from '../../../rpc/client/pay.ts'
import { wallet } from '../../support/chain.ts'
import { fastDevnet } from '../../support/network.ts'

/** A signed native payment with an unsent transaction. */
export interface SignedPayment {
  readonly txId: string
  readonly secret: string
  /** Hex of the transaction's bytes. */
  readonly raw: string
}

/** Signs the payment of a call with the product's client library. Sends nothing. */
export async function signNative(url: string, serviceId: string, request: string): Promise<SignedPayment> {
  const client = new NodeClient(url)
  const quote = await quoteCall(client, serviceId, request)
  if (!quote.ok) throw new Error(`no quote: ${JSON.stringify(quote.fault)}`)
  const secret = new Uint8Array(randomBytes(32))
  const prepared = await preparePayment(client, fastDevnet(), wallet(1), { quote: quote.value, request, secret })
  if (!prepared.ok) throw new Error(`cannot sign: ${JSON.stringify(prepared.fault)}`)
  const { tx } = prepared.value
  return { txId: tx.txId, secret: toHex(secret), raw: toHex(encodeTransaction(tx)) }
}

/** A native payment in the form of either generation of x402. */
export function nativePayment({ txId, secret }: SignedPayment, generation: 1 | 2 = 2): object {
  const payload = { txId, secret }
  return generation === 2
    ? { x402Version: 2, accepted: { scheme: 'native-x402', network: 'farthing:1' }, payload }
    : { x402Version: 1, scheme: 'native-x402', network: 'mainnet', payload }
}
