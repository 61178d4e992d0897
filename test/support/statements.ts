import type { AccountScheme } from '../../consensus/crypto/schemes.ts'
import {
  attestationMessage,
  type SigningDomain,
  type SigningNetwork,
  textMessage,
  transactionMessage,
} from '../../consensus/crypto/signing.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'

/** A signed statement in the vectors. `subject` is a transaction id or an attestation's digest in hex, or a text. */
export interface Statement extends SigningNetwork {
  readonly domain: SigningDomain
  readonly scheme: AccountScheme
  readonly subject: string
}

/** The message that is signed for a statement. Attestations always have scheme 3. */
export function statementMessage({ domain, scheme, subject, ...network }: Statement): Uint8Array {
  switch (domain) {
    case 'transaction':
      return transactionMessage(network, scheme, subject as TxId)
    case 'text':
      return textMessage(network, scheme, subject)
    case 'attestation':
      return attestationMessage(network, fromHex(subject))
  }
}
