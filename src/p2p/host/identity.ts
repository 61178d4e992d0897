import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { createFileAtomically } from '../../storage/atomic-file.ts'
import type { PeerId } from '../network.ts'

/** File in the data folder that holds the key. */
export const IDENTITY_FILE = 'p2p.key'
const OWNER_ONLY = 0o600
const PROBE = Uint8Array.of(1)

/** Key of a node on the network, and the peer id by which others know it. */
export interface Identity {
  readonly key: PrivateKey
  readonly peer: PeerId
}

/** The node's Ed25519 key, made at the first start. Others know a node by it, so it must outlive the process. Fault: `p2p/key-damaged`. */
export async function loadIdentity(folder: string): Promise<Result<Identity>> {
  const path = join(folder, IDENTITY_FILE)
  const written = await readIfThere(path)
  if (written !== undefined) return decodeIdentity(written, path)
  const key = await generateKeyPair('Ed25519')
  if (await createFileAtomically(path, privateKeyToProtobuf(key), OWNER_ONLY)) return ok(identityOf(key))
  // Another process made it in between. Its key stays.
  return decodeIdentity(await readFile(path), path)
}

/** A key with its peer id. */
export function identityOf(key: PrivateKey): Identity {
  return { key, peer: peerIdFromPrivateKey(key).toString() as PeerId }
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}

async function decodeIdentity(bytes: Uint8Array, path: string): Promise<Result<Identity>> {
  try {
    const key = privateKeyFromProtobuf(bytes)
    if (key.type === 'Ed25519' && (await halvesFit(key))) return ok(identityOf(key))
  } catch {
    // The error says nothing that a person could use.
  }
  return fail(fault('p2p/key-damaged', { path }))
}

/** The file also holds the public half, which libp2p does not check. With a wrong one no handshake would succeed. */
async function halvesFit(key: PrivateKey): Promise<boolean> {
  return key.publicKey.verify(PROBE, await key.sign(PROBE))
}
