package main

import "github.com/switchyard-dev/switchyard/internal/errs"

// policyErrors lists the codes about amending a policy, about signatures, and about
// which policy decides.
func policyErrors() []errorGroup {
	return []errorGroup{
		{"Afixing a policy", []errorEntry{
			{errs.PolicyTestsFailed, "A test of the policy fails, there are no tests, or the tests reach fewer lines than asked for.", "the output shows the failed expressions and the lines that are not reached"},
			{errs.PolicyNotProven, "The policy breaks an invariant that its decision record does not waive.", "fix the violations, or waive the invariant in the decision record if it can be waived; switchyard help policy verify lists the invariants"},
			{errs.PolicyDomainTooLarge, "The policy distinguishes too many inputs to check them all: it has too many destinations, or compares with too many numbers.", "declare fewer destinations with findings, or compare with fewer numbers"},
			{errs.PolicyWaiverInvalid, "A decision record waives an unknown invariant or one that cannot be waived, or gives no reason.", "switchyard policy verify says for each broken invariant whether a record may waive it"},
			{errs.PolicyLintFailed, "A version or its decision record breaks a rule. Each finding says where.", "the line below a finding says what to do about it; switchyard help policy has the steps of an amendment"},
			{errs.ADRInvalid, "A decision record's name, front matter or heading is wrong.", "the message says what is expected; switchyard policy new starts a complete one"},
			{errs.PolicyTreeUnreadable, "The folder of versions does not exist, or it or the folder of decision records cannot be read.", "switchyard policy new starts one; --policies and --adrs name others"},
			{errs.PolicyTreeUnwritable, "A file of a version or of its decision record cannot be written.", "check the permissions of the folders; then give the command again, which completes it"},
			{errs.PolicyVersionExists, "A file of the next version is there already, or another draft is still to be released.", "release the draft or remove it; switchyard policy list shows it"},
			{errs.PolicyVersionUnknown, "The project has no such version, or it was not said which one of several drafts is meant.", "switchyard policy list shows the versions; name one of policies/routing"},
			{errs.PolicyTitleInvalid, "The title cannot be that of a decision record.", "give a short title in one line of letters, digits and punctuation"},
			{errs.PolicySourceUnfit, "The version to start from cannot be copied: its Rego is not where its version and its record can be found.", "start from another version, or copy the folder by hand"},
			{errs.PolicyReleaseRefused, "The version breaks a rule of policy lint, so it was not released.", "fix the findings; switchyard policy lint shows them again"},
		}},
		{"Signed policies", []errorEntry{
			{errs.PolicyUnsigned, "The project has keys for policies, and this one is not signed.", "sign it: switchyard policy build --sign-key FILE; its authors can look at it with --allow-unsigned"},
			{errs.PolicySignatureInvalid, "The signature is malformed, was not made by the key that it names, or is not over exactly these files.", "do not use the bundle; get it again from its signers"},
			{errs.PolicySignatureExpired, "The signature is valid, but its time has ended or has not begun.", "get a bundle that was signed again, and check the clock"},
			{errs.PolicyKeyUnknown, "The bundle is signed by a key that the project does not have.", "if the key is to be trusted, add it under policy_trust in switchyard.yaml"},
			{errs.PolicyScopeMismatch, "The signature is valid, but for a scope for which the key is not trusted.", "sign the bundle with the --scope that policy_trust gives the key"},
			{errs.PolicyKeyInvalid, "A key of policy_trust or of --sign-key cannot be used: it is not there, is too weak, or is not of its algorithm.", "the message says which; switchyard help policy build says what kinds of keys there are"},
			{errs.PolicyRollback, "The policy is older than the one that the project adopted.", "if that is meant: switchyard policy adopt --allow-rollback, or allow_rollback under policy_trust"},
		}},
		{"Which policy decides", []errorEntry{
			{errs.PolicyChanged, "The active policy is not the adopted one, and the change was not confirmed.", "switchyard policy adopt --dry-run shows what changes, switchyard policy adopt confirms it"},
			{errs.PolicyNotConfigured, "The policy to adopt is not the one that switchyard.yaml names.", "change policy in switchyard.yaml first"},
			{errs.PolicyUnnamed, "The project adopted a policy of its own and configures none, so it is not clear which one to adopt.", "switchyard policy adopt POLICY, or name it in switchyard.yaml"},
			{errs.PolicyLost, "A policy that made a recorded decision is neither built in nor stored in the ledger.", "restore .switchyard from a copy; the decisions themselves are recorded whole"},
			{errs.PolicyFlips, "In a replay of the ledger, rounds go to a destination that --fail-on-flip forbids.", "the details count them; without --fail-on-flip the replay lists them with their causes"},
			{errs.PolicyFlipUnknown, "--fail-on-flip names a destination that neither the candidate nor any recorded decision has.", "check the spelling; switchyard policy show lists the destinations, and * stands for all"},
			{errs.LedgerExportInvalid, "The file is not the export of a ledger, or was changed since.", "export it again: switchyard ledger export"},
			{errs.ReplayRecordInvalid, "A recorded round is contradictory and cannot be replayed.", "switchyard ledger verify shows what was changed"},
			{errs.ReplayTooVaried, "The rounds name more policies or destinations than a report can list.", "replay fewer of them: --since, --through"},
		}},
	}
}
