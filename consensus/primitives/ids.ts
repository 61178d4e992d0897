/**
 * Identifiers are strings in the program, hashes among them as lower-case hex: immutable, comparable with ===, usable
 * as map keys.
 */
declare const brand: unique symbol

/** Tagged hash of a transaction's body, 32 bytes in hex. */
export type TxId = string & { readonly [brand]: 'TxId' }
/** Tagged hash of transaction id and witness, 32 bytes in hex. */
export type WtxId = string & { readonly [brand]: 'WtxId' }
/** Tagged hash of a header, nonce included, 32 bytes in hex. */
export type BlockId = string & { readonly [brand]: 'BlockId' }
/** Tagged hash of an account's keys, 32 bytes in hex. */
export type Address = string & { readonly [brand]: 'Address' }
/** Any other 32-byte hash in hex. */
export type Hash = string & { readonly [brand]: 'Hash' }
/** On-chain name of an agent, see `AGENT_ID`. */
export type AgentId = string & { readonly [brand]: 'AgentId' }
/** On-chain name of a service of one agent, see `SERVICE_ID`. */
export type ServiceId = string & { readonly [brand]: 'ServiceId' }

/** Name of an asset, the native coin included, see `TOKEN_SYMBOL`. */
export type TokenSymbol = string & { readonly [brand]: 'TokenSymbol' }
/** Tagged hash of a pool's two assets and its fee, 32 bytes in hex. */
export type PoolId = string & { readonly [brand]: 'PoolId' }

/** Grammar of an asset's symbol: 2 to 10 capital letters and digits, a letter first. */
export const TOKEN_SYMBOL = /^[A-Z][A-Z0-9]{1,9}$/
/** Grammar of an agent id: 3 to 32 lower-case letters, digits and inner hyphens. */
export const AGENT_ID = /^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$/
/** Grammar of a service id: 4 to 48 lower-case letters, digits and inner hyphens, a letter first. */
export const SERVICE_ID = /^[a-z][a-z0-9-]{2,46}[a-z0-9]$/
