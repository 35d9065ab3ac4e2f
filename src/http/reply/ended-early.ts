/** Why a source ends before its announced length though nothing is broken: the client asks again. */
export class EndedEarly extends Error {}
