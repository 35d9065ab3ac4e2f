/** Limits of the sign-in of devices, of passwords and of the identity provider; part of `limits`. */

const KiB = 1024;

export const signInLimits = {
  // Sign-in of devices (RFC 8628) and their refresh tokens.
  /** Lifetime of the codes of a device. */
  deviceCodeSeconds: 600,
  /** Interval between two polls of a device, and its permanent increase after an early poll (RFC 8628, 3.5). */
  devicePollSeconds: 5,
  devicePollStepSeconds: 5,
  /** A poll early by less counts as on time: clocks and networks are not exact. */
  devicePollSlackMs: 500,
  /** Sign-in requests of devices per minute, over the whole hub. */
  deviceRequestsPerMinuteMax: 1000,
  /** Expired grants removed by one request of a device. */
  deviceSweepRowsMax: 100,
  /** Wrong user codes of one address or one account, in a window of this length. */
  userCodeTriesMax: 5,
  userCodeTriesMs: 600_000,
  clientIdCharsMax: 100,
  deviceNameCharsMax: 100,
  oauthFormBytesMax: 16 * KiB,
  /** A refresh token unused for so long ends its sign-in: 60 days. */
  refreshTokenSeconds: 60 * 86_400,
  /** A device must sign in again after two years, however much it was used. */
  deviceSignInSeconds: 2 * 365 * 86_400,
  /** How long a used refresh token is accepted once more, in case the answer was lost. */
  refreshRetryMs: 30_000,
  // Authorization code flow and its clients (OAuth 2.1, RFC 7591).
  /** Lifetime of an authorization code: a client exchanges it within a second, and no person carries it. */
  authorizationCodeSeconds: 60,
  authorizationCodesMax: 10_000,
  authorizationCodesPerAccountMax: 20,
  oauthStateCharsMax: 2048,
  redirectUrisMax: 10,
  redirectUriCharsMax: 2048,
  clientRegistrationBytesMax: 16 * KiB,
  /** Registered clients over the whole hub. When full, the unused one that expires first is removed. */
  clientRegistrationsMax: 1000,
  /** Clients registered by the operator. */
  operatorClientsMax: 100,
  /** A registration that never led to a sign-in expires after a day. */
  clientUnusedMs: 86_400_000,
  /** Client ID metadata documents: size, fetch timeout, cache lifetime, cached documents, and concurrent fetches. */
  clientDocumentBytesMax: 16 * KiB,
  clientDocumentMs: 5000,
  clientDocumentFreshMs: 3_600_000,
  clientDocumentsRemembered: 500,
  clientDocumentFetchesMax: 8,
  /** Signed-in devices of an account. A further one ends the least recently used. */
  signInsMax: 100,
  /** Live access tokens of an account. A further one revokes the one that expires first. */
  accessTokensLiveMax: 1000,

  // Sign-in with a password.
  /** Wrong passwords of one browser, or of one address for one email, in a window of this length. */
  passwordTriesMax: 10,
  passwordTriesMs: 600_000,
  /** After this many wrong passwords for one email in that window, from any address, strangers try one at a time. */
  passwordTriesOfEmailMax: 10,
  /**
   * For an email under attack: interval between strangers' tries, waiting tries per email and per address; such emails.
   */
  slowSignInMs: 2000,
  slowSignInsWaitingMax: 10,
  slowSignInsOfAddressMax: 2,
  slowSignInEmailsMax: 10_000,
  /** How long a browser is remembered after its last sign-in: 400 days, the longest that browsers keep a cookie. */
  browserMarkSeconds: 400 * 86_400,
  /** How long after entering the password it is not needed again to change keys and passwords. */
  freshSignInMs: 900_000,
  /** Second factor: wrong codes from one address, and from all for one account, in a window of this length. */
  codeTriesMax: 5,
  codeTriesOfAccountMax: 20,
  codeTriesMs: 600_000,
  recoveryCodes: 10,
  userCodeCharsMax: 32,
  /** Sign-ins waiting for a code, and for how long. */
  pendingSignInsMax: 10_000,
  pendingSignInMs: 300_000,
  /** Lifetime of a link to reset a password, and the links sent to one email in a window of this length. */
  resetSeconds: 1800,
  resetsMax: 3,
  resetsMs: 3_600_000,

  // Mail.
  lettersWaitingMax: 1000,
  /** Pauses between tries to send a letter. */
  mailPausesMs: [2000, 30_000, 300_000],
  mailTimeoutMs: 10_000,

  // Security events.
  /** Stored actions and failures of an account, and the days that they are kept. */
  auditActsMax: 1000,
  auditFailuresMax: 200,
  auditDays: 180,
  /** Equal failures from one address within this time of each other are recorded as one event. */
  auditSameFailureMs: 600_000,
  auditShownMax: 100,

  // Identity provider.
  /** Timeout and size of one fetch of its metadata or keys. */
  idpFetchMs: 5000,
  idpDocumentBytesMax: 256 * KiB,
  /** Older keys are fetched again. */
  idpKeysFreshMs: 600_000,
  /** How long keys that could not be renewed are still used. */
  idpKeysStaleMs: 3_600_000,
  /** Interval between two tries to fetch keys, whatever tokens arrive. */
  idpKeysCoolDownMs: 30_000,
  /** Allowed difference between its clock and ours. */
  idpClockSkewSeconds: 30,
  idpTokenCharsMax: 8 * KiB,
  idpSubjectCharsMax: 255,
  /** Linked identities of an account. */
  identitiesMax: 10,
} as const;
