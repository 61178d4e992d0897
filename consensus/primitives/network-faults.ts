import { later, sender, unblamed } from './fault-row.ts'

/** What can go wrong between nodes. */
export const NETWORK_FAULTS = {
  'p2p/unreachable': later('peer_unreachable', 502, 'the peer cannot be reached: {reason}'),
  'p2p/timeout': later('peer_timeout', 504, 'the peer did not answer {protocol} in {ms} ms'),
  'p2p/too-large': sender('peer_message_too_large', 400, 'a message of {protocol} has more than {bytesMax} bytes'),
  'p2p/malformed': sender('peer_message_malformed', 400, 'a message of {protocol} does not decode: {reason}'),
  'p2p/refused': later('peer_refused', 502, 'the peer refused {protocol}: {reason}'),
  'p2p/snapshot-unserved': later(
    'snapshot_unserved',
    503,
    'no peer gives the rest of the state at height {height} just now',
  ),
  'p2p/claim': later('peer_claim', 502, 'the branch of the peer claims work of {work}, too little to be looked at'),
  'p2p/address': sender('invalid_peer_address', 400, '"{text}" is not the address of a node: {reason}'),
  'p2p/disabled': unblamed('network_disabled', 503, 'this node talks to no others'),
  'p2p/port-taken': later(
    'peer_port_taken',
    500,
    'port {port} of {host} is taken; stop what uses it or choose another with --p2p-port',
  ),
  'p2p/address-unusable': unblamed(
    'peer_address_unusable',
    500,
    'cannot listen for peers on {host}, port {port}: {reason}; see --p2p-host',
  ),
  'p2p/key-damaged': unblamed('peer_key_damaged', 500, 'the key file {path} is damaged; without it a new key is made'),
  'p2p/not-banned': unblamed('peer_not_banned', 404, '{peer} is not banned'),
} as const
