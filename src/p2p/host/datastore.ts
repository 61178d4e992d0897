import { LevelDatastore } from 'datastore-level'

const SIZES = { cacheSize: 1_048_576, writeBufferSize: 1_048_576 }

/** Where libp2p keeps what it knows of peers: opened when the host starts, closed when it stops. */
export function peerDatastore(path: string): LevelDatastore {
  return new LevelDatastore(path, SIZES)
}
