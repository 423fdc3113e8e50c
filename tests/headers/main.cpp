// Linking this program is the test: a definition that is not inline would appear twice.
int main() {}
