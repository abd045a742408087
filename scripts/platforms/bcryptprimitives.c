// Wine 8 as a Windows for Go's programs: bcryptprimitives.dll.
#include <string.h>
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

// Go's runtime loads the library for this function, which Wine 8 lacks.
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) { return SystemFunction036(p, (ULONG)n); }

typedef LONG NTAPI (*set_information)(HANDLE, PVOID, PVOID, ULONG, int);
static set_information original;

// Wine 8 returns STATUS_NOT_IMPLEMENTED for the way in which Windows 10 renames and removes
// files. With STATUS_INVALID_INFO_CLASS, Go uses the way of older systems.
static LONG NTAPI replacement(HANDLE h, PVOID status, PVOID p, ULONG n, int class) {
	LONG result = original(h, status, p, n, class);
	return result == (LONG)0xC0000002 ? (LONG)0xC0000003 : result;
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved) {
	if (reason == DLL_PROCESS_ATTACH) {
		BYTE *at = (BYTE *)GetProcAddress(GetModuleHandleA("ntdll"), "NtSetInformationFile");
		BYTE *copy = VirtualAlloc(NULL, 64, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
		BYTE jump[12] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0}; // mov rax, replacement; jmp rax
		set_information to = replacement;
		DWORD old;
		memcpy(copy, at, 64); // The code of a system call does not depend on its address.
		original = (set_information)copy;
		memcpy(jump + 2, &to, 8);
		VirtualProtect(at, 12, PAGE_EXECUTE_READWRITE, &old);
		memcpy(at, jump, 12);
	}
	return TRUE;
}
