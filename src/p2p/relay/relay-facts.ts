/** Counts of gossiped blocks since the start. */
export interface BlockFacts {
  /** Messages that this node made itself. */
  announced: number
  heard: number
  bytes: number
  /** Blocks that gossip brought first and that were put together. */
  firstSeen: number
  /** Messages whose header was known already. */
  duplicate: number
  unknownParent: number
  /** Messages whose header lies on a branch with too little work. */
  tooLight: number
  /** Messages with a good header that our clock does not allow yet. */
  early: number
  /** Messages for which the sender was blamed. */
  bad: number
  hashes: number
  /** Blocks that were put together without a question to a peer. */
  fromPool: number
  /** Blocks that were completed by transactions that a peer gave, and how many transactions all such questions named. */
  completed: number
  missingTransactions: number
  wholeBodies: number
  /** Blocks whose body no peer gave, or that the chain refused. */
  lost: number
  /** Sum over `firstSeen` blocks: milliseconds from the header's time until the body was complete here. */
  delayMs: number
}

/** Counts of gossiped and pulled transactions since the start. */
export interface TransactionFacts {
  heard: number
  bytes: number
  accepted: number
  ignored: number
  rejected: number
  /** Not checked for lack of time, room or budget. */
  postponed: number
  /** Our own gossip messages. */
  published: number
  /** Ids that this node told peers, and ids that peers told it. */
  idsSent: number
  idsHeard: number
  /** Transactions that were asked for and came. */
  pulled: number
}

/** Counts of blocks, all zero. */
export function noBlocks(): BlockFacts {
  return {
    announced: 0,
    heard: 0,
    bytes: 0,
    firstSeen: 0,
    duplicate: 0,
    unknownParent: 0,
    tooLight: 0,
    early: 0,
    bad: 0,
    hashes: 0,
    fromPool: 0,
    completed: 0,
    missingTransactions: 0,
    wholeBodies: 0,
    lost: 0,
    delayMs: 0,
  }
}

/** Counts of transactions, all zero. */
export function noTransactions(): TransactionFacts {
  return {
    heard: 0,
    bytes: 0,
    accepted: 0,
    ignored: 0,
    rejected: 0,
    postponed: 0,
    published: 0,
    idsSent: 0,
    idsHeard: 0,
    pulled: 0,
  }
}
