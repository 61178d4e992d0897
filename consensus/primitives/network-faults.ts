import { later, sender, unblamed } from './fault-row.ts'

/** Faults of the peer-to-peer network: of other nodes, and of this node's own part in it. */
export const NETWORK_FAULTS = {
  'p2p/unreachable': later('the peer cannot be reached: {reason}'),
  'p2p/timeout': later('the peer did not answer {protocol} in {ms} ms'),
  'p2p/too-large': sender('a message of {protocol} has more than {bytesMax} bytes'),
  'p2p/malformed': sender('a message of {protocol} does not decode: {reason}'),
  'p2p/refused': later('the peer refused {protocol}: {reason}'),
  'p2p/snapshot-unserved': later('no peer gives the rest of the state at height {height} just now'),
  'p2p/claim': later('the branch of the peer claims work of {work}, too little to be looked at'),
  'p2p/address': sender('"{text}" is not the address of a node: {reason}'),
  'p2p/disabled': unblamed('this node talks to no others'),
  'p2p/port-taken': later('port {port} of {host} is taken; stop what uses it or choose another with --p2p-port'),
  'p2p/address-unusable': unblamed('cannot listen for peers on {host}, port {port}: {reason}; see --p2p-host'),
  'p2p/key-damaged': unblamed('the key file {path} is damaged; without it a new key is made'),
  'p2p/not-banned': unblamed('{peer} is not banned'),
} as const
