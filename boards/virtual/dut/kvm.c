#include "boards/virtual/dut/dut.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KVM_API   12
#define PAGE      4096
#define OP_HLT    0xf4
#define PAGE_BASE 0x1000

struct vm {
	int kvm;
	int vm;
	int vcpu;
};

static bool open_vcpu(struct vm *v)
{
	v->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (v->kvm < 0 || ioctl(v->kvm, KVM_GET_API_VERSION, 0) != KVM_API)
		return false;
	v->vm = ioctl(v->kvm, KVM_CREATE_VM, 0);
	if (v->vm < 0)
		return false;
	v->vcpu = ioctl(v->vm, KVM_CREATE_VCPU, 0);
	return v->vcpu >= 0;
}

/* One page with a halt instruction, and a processor in real mode before it. */
static bool load(const struct vm *v)
{
	struct kvm_sregs sregs;
	struct kvm_regs regs = { .rip = PAGE_BASE, .rflags = 2 };
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = PAGE_BASE,
		.memory_size = PAGE,
	};
	unsigned char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	memset(page, OP_HLT, PAGE);
	region.userspace_addr = (uintptr_t)page;
	if (ioctl(v->vm, KVM_SET_USER_MEMORY_REGION, &region) < 0 ||
	    ioctl(v->vcpu, KVM_GET_SREGS, &sregs) < 0)
		return false;
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	return ioctl(v->vcpu, KVM_SET_SREGS, &sregs) == 0 &&
	       ioctl(v->vcpu, KVM_SET_REGS, &regs) == 0;
}

static bool halts(const struct vm *v)
{
	int size = ioctl(v->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	struct kvm_run *run;

	if (size < (int)sizeof(*run))
		return false;
	run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   v->vcpu, 0);
	if (run == MAP_FAILED)
		return false;
	return ioctl(v->vcpu, KVM_RUN, 0) == 0 &&
	       run->exit_reason == KVM_EXIT_HLT;
}

/* In the child; its exit frees everything. */
static void probe(int done_fd)
{
	struct vm v = { -1, -1, -1 };
	char ok = open_vcpu(&v) && load(&v) && halts(&v);
	ssize_t n = write(done_fd, &ok, 1);

	_exit(n == 1 ? 0 : 1);
}

bool dut_kvm_usable(void)
{
	int fds[2];
	struct pollfd p = { .events = POLLIN };
	char ok = 0;
	pid_t pid;

	if (access("/dev/kvm", R_OK | W_OK) < 0)
		return false;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		probe(fds[1]);
	close(fds[1]);
	p.fd = fds[0];
	if (pid > 0 && poll(&p, 1, DUT_KVM_PROBE_MS) == 1 &&
	    read(fds[0], &ok, 1) != 1)
		ok = 0;
	close(fds[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return ok;
}
