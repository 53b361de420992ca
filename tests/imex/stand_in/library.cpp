// libnvidia-imex.so.1, a stand-in: the daemon only has to find it.
extern "C" int nvidia_imex_stand_in() { return 1; }
