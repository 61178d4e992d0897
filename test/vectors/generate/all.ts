import { writeFileSync } from 'node:fs'
import { accountsFile } from './accounts.ts'
import { amountsFile } from './amounts.ts'
import { CHAIN_VECTORS, vectorText } from './chain-vectors.ts'
import { ed25519File } from './ed25519-cases.ts'
import { externalAddressesFile } from './external-addresses.ts'
import { listTreesFile, signingMessagesFile, taggedHashesFile } from './hashing.ts'
import { hybridFile } from './hybrid-cases.ts'
import { mlDsaFile } from './ml-dsa-cases.ts'
import { render, type VectorFile } from './render.ts'

/**
 * The vector files about accounts, amounts, hashes, signatures and external addresses, and what makes each. All of it
 * is deterministic, signatures included.
 */
export const VECTOR_FILES: Readonly<Record<string, () => VectorFile>> = {
  'accounts.json': accountsFile,
  'amounts.json': amountsFile,
  'ed25519.json': ed25519File,
  'external-addresses.json': externalAddressesFile,
  'hybrid.json': hybridFile,
  'list-trees.json': listTreesFile,
  'ml-dsa-44.json': () => mlDsaFile(44),
  'ml-dsa-65.json': () => mlDsaFile(65),
  'signing-messages.json': signingMessagesFile,
  'tagged-hashes.json': taggedHashesFile,
}

/** `node test/vectors/generate/all.ts` writes these files and the chain's vectors anew. */
if (import.meta.main) {
  const write = (name: string, text: string) => writeFileSync(new URL(`../${name}`, import.meta.url), text)
  for (const [name, make] of Object.entries(VECTOR_FILES)) write(name, render(make()))
  for (const [name, make] of Object.entries(CHAIN_VECTORS)) write(`${name}.json`, vectorText(make()))
}
