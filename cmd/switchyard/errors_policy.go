package main

import "github.com/switchyard-dev/switchyard/internal/errs"

// policyErrors are those of amending a policy, of signatures, and of which policy
// decides.
func policyErrors() []errorGroup {
	return []errorGroup{
		{"Amending a policy", []errorEntry{
			{errs.PolicyTestsFailed, "A test of the policy fails, there is none, or the tests reach fewer lines than asked for.", "the output shows what does not hold and which lines are not reached"},
			{errs.PolicyNotProven, "The policy breaks an invariant that its decision record does not waive.", "mend what is shown, or have the decision record waive it where it says that it may; switchyard help policy verify has the invariants"},
			{"policy-domain-too-large", "The policy tells so many inputs apart that they cannot all be tried: it has too many destinations, or compares with too many numbers.", "declare fewer destinations with findings, or compare with fewer numbers"},
			{"policy-waiver-invalid", "A decision record waives what is no invariant or what none may waive, or gives no reason.", "switchyard policy verify says of each that does not hold whether a record may waive it"},
			{errs.PolicyLintFailed, "A version or its decision record breaks a rule. Each finding says where.", "the line below a finding says what to do about it; switchyard help policy has the steps of an amendment"},
			{"adr-invalid", "A decision record's name, front matter or heading is wrong.", "the message says what it has to be; switchyard policy new begins a whole one"},
			{"policy-tree-unreadable", "There is no folder of versions, or it or that of the decision records cannot be read.", "switchyard policy new starts one; --policies and --adrs name others"},
			{"policy-tree-unwritable", "A file of a version or of its decision record cannot be written.", "check the permissions of the folders; then give the command again, which completes it"},
			{"policy-version-exists", "A file of the next version is there already, or another draft is still to be released.", "release the draft or remove it; switchyard policy list shows it"},
			{"policy-version-unknown", "The project has no such version, or it was not said which one of several drafts is meant.", "switchyard policy list shows the versions; name one of policies/routing"},
			{"policy-title-invalid", "The title cannot be that of a decision record.", "give a short title in one line of letters, digits and punctuation"},
			{"policy-source-unfit", "The version to start from cannot be copied: its Rego is not where its version and its record can be found.", "start from another version, or copy the folder by hand"},
			{"policy-release-refused", "The version breaks a rule of policy lint, so it was not released.", "mend what the findings name; switchyard policy lint shows them again"},
		}},
		{"Signed policies", []errorEntry{
			{"policy-unsigned", "The project has keys for policies, and this one is not signed.", "sign it: switchyard policy build --sign-key FILE; its authors can look at it with --allow-unsigned"},
			{"policy-signature-invalid", "The signature is malformed, was not made by the key that it names, or is not over exactly these files.", "do not use the bundle; get it again from those who signed it"},
			{"policy-signature-expired", "The signature is good, but its time is over or has not begun.", "get a bundle that was signed anew, and check the clock"},
			{"policy-key-unknown", "The bundle is signed by a key that the project does not have.", "if the key is to be trusted, add it under policy_trust in switchyard.yaml"},
			{"policy-scope-mismatch", "The signature is good, but for another purpose than the key is trusted for.", "sign the bundle with the --scope that policy_trust gives the key"},
			{"policy-key-invalid", "A key of policy_trust or of --sign-key cannot be used: it is not there, is too weak, or is not of its algorithm.", "the message says which; switchyard help policy build says what kinds of keys there are"},
			{"policy-rollback", "The policy is older than the one that the project adopted.", "if that is meant: switchyard policy adopt --allow-rollback, or allow_rollback under policy_trust"},
		}},
		{"Which policy decides", []errorEntry{
			{"policy-changed", "The project goes by another policy than the one that it adopted, and nobody has said that it shall.", "switchyard policy adopt --dry-run shows what changes, switchyard policy adopt takes it up"},
			{"policy-not-configured", "Another policy is to be adopted than the one that switchyard.yaml names.", "change policy in switchyard.yaml first"},
			{"policy-unnamed", "The project goes by a policy of its own and configures none, so that it is not clear which one to adopt.", "switchyard policy adopt POLICY, or name it in switchyard.yaml"},
			{"policy-lost", "A policy that decided something is neither built in nor kept in the ledger.", "restore .switchyard from a copy; the decisions themselves are recorded whole"},
			{"policy-flips", "Replaying the ledger, rounds go where --fail-on-flip says that none may go.", "the details count them; without --fail-on-flip the replay lists them with their causes"},
			{"policy-flip-unknown", "--fail-on-flip names a destination that neither the candidate nor any recorded decision has.", "check the spelling; switchyard policy show lists the destinations, and * stands for all"},
			{"ledger-export-invalid", "The file is not the export of a ledger, or was changed since.", "export it again: switchyard ledger export"},
			{"replay-record-invalid", "A recorded round contradicts itself, so that nothing follows from it.", "switchyard ledger verify shows what was changed"},
			{"replay-too-varied", "The rounds name more policies or destinations than a report can list.", "replay fewer of them: --since, --through"},
		}},
	}
}
