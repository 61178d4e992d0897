import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { SigningNetwork } from '../../consensus/crypto/signing.ts'
import type { Hash, TxId } from '../../consensus/primitives/ids.ts'
import { voucherMessage } from '../../consensus/tx/tab-messages.ts'
import type { Voucher } from '../../consensus/tx/tab-payloads.ts'

/** DER of an Ed25519 private key, up to its 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const KEY = createPrivateKey({ key: Buffer.concat([PKCS8, Buffer.alloc(32, 0x42)]), format: 'der', type: 'pkcs8' })

/** A voucher key of which tests know the seed. */
export const VOUCHER_KEY = {
  publicKey: Buffer.from(createPublicKey(KEY).export({ format: 'jwk' }).x as string, 'base64url').toString(
    'hex',
  ) as Hash,
  /** A voucher that the key signed. */
  voucher: (network: SigningNetwork, tabId: TxId, fields: Omit<Voucher, 'signature'>): Voucher => ({
    ...fields,
    signature: new Uint8Array(sign(null, voucherMessage(network, tabId, fields), KEY)),
  }),
}
