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

/** What is signed, as the vectors say it. `subject`: a transaction id or an attestation's digest in hex, or the text. */
export interface Statement extends SigningNetwork {
  readonly domain: SigningDomain
  readonly scheme: AccountScheme
  readonly subject: string
}

/** The signed message of a statement. Attestations are of scheme 3 whatever the statement says. */
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
